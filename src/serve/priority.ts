// Who waits for an answer goes before what is learned meanwhile: a thread, and the threads that it starts, at a lower priority.

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** As `nice` has it. */
const LOWER = 10;
/** Where Linux says which thread asks. */
const OWN = "/proc/thread-self";

interface DenoPermissions {
  permissions: { querySync(of: { name: string; kind?: string; path?: string }): { state: string } };
}

/** Deno asks the person at the terminal for what it was not given; for this nobody is to be asked. */
function mayStepBack(): boolean {
  const { Deno: deno } = globalThis as { Deno?: DenoPermissions };
  if (deno === undefined) return true;
  const needed = [
    { name: "read", path: OWN },
    { name: "sys", kind: "setPriority" },
  ];
  return needed.every((each) => deno.permissions.querySync(each).state === "granted");
}

/** Lowers the priority of this thread where the system has one for each (Linux); elsewhere all go on as they are. */
export function stepBack(): void {
  try {
    if (mayStepBack()) setPriority(Number(basename(readlinkSync(OWN))), LOWER);
  } catch {
    // Without a number of its own the whole program would step back.
  }
}
