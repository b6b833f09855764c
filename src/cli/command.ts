// What a command is.

import type { Flags, Parsed } from "./flags.ts";

export interface Command {
  name: string;
  usage: string;
  summary: string;
  examples: string[];
  flags: Flags;
  run(parsed: Parsed): Promise<void>;
}
