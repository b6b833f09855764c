// Who waits for an answer goes before what is learned meanwhile: a thread, and the threads that it starts, at a lower priority.

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** As `nice` has it. */
const LOWER = 10;

/** Lowers the priority of this thread where the system has one for each (Linux); elsewhere all go on as they are. */
export function stepBack(): void {
  try {
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), LOWER);
  } catch {
    // Without a number of its own the whole program would step back.
  }
}
