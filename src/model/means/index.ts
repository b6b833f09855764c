// The forms of the mean by name.

import type { MeanName } from "../names.ts";
import { features } from "./features.ts";
import { inducing } from "./inducing.ts";
import type { MeanForm } from "./mean.ts";

export const means: Record<MeanName, MeanForm> = { inducing, features };
