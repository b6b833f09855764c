// --log FILE: the bound of every step as CSV, written as the steps come.

import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import type { StepValue } from "../train/progress.ts";

const COLUMNS = ["step", "epoch", "bound", "dataTerm", "divergence"] as const;

export interface StepLog {
  write(value: StepValue): void;
  close(): void;
}

/** A training that goes on from a checkpoint goes on in its log, from the step where it does. */
export function openStepLog(path: string, resumed: boolean): StepLog {
  const before = resumed && existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").slice(1) : [];
  const file = openSync(path, "w");
  const line = (text: string): void => void writeSync(file, `${text}\n`);
  line(COLUMNS.join(","));
  return {
    write(value) {
      for (const earlier of before.splice(0)) if (Number.parseInt(earlier, 10) < value.step) line(earlier);
      line(COLUMNS.map((name) => value[name]).join(","));
    },
    close: () => closeSync(file),
  };
}
