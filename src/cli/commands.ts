// The commands, in the order of the overview.

import { auditCommand } from "./audit.ts";
import type { Command } from "./command.ts";
import { compactCommand, inspectCommand } from "./compact.ts";
import { calibrateCommand, evalCommand, namesCommand } from "./eval.ts";
import { learnCommand, queryCommand } from "./learn.ts";
import { predictCommand } from "./predict.ts";
import { selfcheckCommand } from "./selfcheck.ts";
import { serveCommand } from "./serve.ts";
import { mergeCommand, planCommand, trainCommand } from "./train.ts";

export const commands: readonly Command[] = [
  trainCommand,
  learnCommand,
  queryCommand,
  evalCommand,
  predictCommand,
  calibrateCommand,
  namesCommand,
  auditCommand,
  compactCommand,
  serveCommand,
  planCommand,
  mergeCommand,
  inspectCommand,
  selfcheckCommand,
];
