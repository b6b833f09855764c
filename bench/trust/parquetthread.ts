// Altered Parquet files, read as in a page: without a thread for each of them. The program of a thread that parquet.ts starts.

import { parentPort } from "node:worker_threads";
import { PARQUET, tryData } from "../../test/data/strangers.ts";

// hyparquet reads columns at once: where two of them fail, nobody waits for the second.
process.on("unhandledRejection", () => {});
// The reader looks here for a runtime with threads.
Object.defineProperty(globalThis, "process", { value: undefined });

parentPort?.on("message", async (seed: number) => {
  const trial = await tryData(PARQUET, seed).catch(() => undefined);
  parentPort?.postMessage(trial);
});
