// Memory that large requests have left behind, given back in time. An engine collects when its own heap has grown, and a body
// of a megabyte is only a handle there: Deno and Bun had 500 to 730 MB under an attack that held 20. Node keeps to the heap
// that its thread is given, and needs no help.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of bodies and answers between two collections, each of which takes some ten milliseconds. */
const BYTES = 16 << 20;

/** Megabytes of young objects in a thread of Deno, which has three such spaces; 16 are its own choice. */
const YOUNG_MEGABYTES = 2;

type BunRuntime = { gc(synchronous: boolean): void };

const inDeno = "Deno" in globalThis;
const { Bun: bun } = globalThis as { Bun?: BunRuntime };

function collector(): () => void {
  if (bun) return () => bun.gc(true);
  if (!inDeno) return () => {};
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** Is told of bytes that are no longer held, and collects after so many of them. */
export function garbageCollector(collect: () => void = collector(), every: number = BYTES): (bytes: number) => void {
  let left = every;
  return (bytes) => {
    left -= bytes;
    if (left > 0) return;
    left = every;
    collect();
  };
}

/** Threads that are started from now on have little room for young objects. */
export function keepThreadsSmall(): void {
  if (inDeno) setFlagsFromString(`--max-semi-space-size=${YOUNG_MEGABYTES}`);
}
