// The program of the threads of a project that learns. Started by project.ts.

import { answerCalls } from "../threads.ts";
import { methods } from "./methods.ts";

answerCalls(methods);
