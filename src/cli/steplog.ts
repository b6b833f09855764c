// --log FILE: the bound of every step as CSV, written as the steps come.

import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { fileError } from "../io/files.ts";
import type { StepValue } from "../train/progress.ts";
import type { Terminal } from "./terminal.ts";

const COLUMNS = ["step", "epoch", "bound", "dataTerm", "divergence"] as const;

export interface StepLog {
  write(value: StepValue): void;
  close(): void;
}

/**
 * A training that goes on from a checkpoint goes on in its log, from the step where it does. A log that cannot be written
 * any more (a full disk) ends with what it has, and says so: the training goes on.
 */
export function openStepLog(path: string, resumed: boolean, screen: Terminal): StepLog {
  const before = resumed && existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").slice(1) : [];
  const file = openSync(path, "w");
  let whole = true;
  const line = (text: string): void => {
    if (!whole) return;
    try {
      writeSync(file, `${text}\n`);
    } catch (error) {
      whole = false;
      screen.say(`${fileError("write", path, error).message}; the log ends here`);
    }
  };
  line(COLUMNS.join(","));
  return {
    write(value) {
      for (const earlier of before.splice(0)) if (Number.parseInt(earlier, 10) < value.step) line(earlier);
      line(COLUMNS.map((name) => value[name]).join(","));
    },
    close: () => closeSync(file),
  };
}
