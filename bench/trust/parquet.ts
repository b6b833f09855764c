// Altered Parquet files by the million. The reader starts a thread for each file, which takes many times what reading one of a
// kilobyte does. So a seed is first read without, in a thread that is kept. One that is not done soon, takes much memory or is wrong in
// any way is read again by the reader as it is, with its limits, and what comes of that counts; so does every hundredth.

import { mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { type DataTrial, PARQUET, tryData } from "../../test/data/strangers.ts";

const AS_IT_IS = 100;
const [PATIENCE, CHECK_MS] = [500, 50];
const MEGABYTE = 2 ** 20;
const [MEMORY, HEAP] = [128 * MEGABYTE, 64];

/** Tries seeds until it is told to end. */
export async function parquetTrials(): Promise<{ attempt(seed: number): Promise<DataTrial>; end(): void }> {
  const folder = resolve("node_modules/.cache/mlgpf");
  mkdirSync(folder, { recursive: true });
  const outfile = `${folder}/parquet-thread-${process.pid}.mjs`;
  const entryPoints = ["bench/trust/parquetthread.ts"];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  let thread: Worker | undefined;
  let failed = (): void => {};

  function started(): Worker {
    const worker = new Worker(outfile, { resourceLimits: { maxOldGenerationSizeMb: HEAP } });
    worker.on("error", () => {
      if (thread === worker) failed();
    });
    return worker;
  }

  /** Undefined where the file is to be read by the reader as it is. */
  const inThread = async (seed: number): Promise<DataTrial | undefined> => {
    thread ??= started();
    const worker = thread;
    const { rss } = process.memoryUsage();
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<DataTrial | undefined>((done) => {
      failed = () => {
        thread = undefined;
        void worker.terminate();
        done(undefined);
      };
      timer = setInterval(() => {
        if (performance.now() - began > PATIENCE || process.memoryUsage().rss - rss > MEMORY) failed();
      }, CHECK_MS);
      worker.once("message", done);
      worker.postMessage(seed);
    });
    return await answer.finally(() => clearInterval(timer));
  };

  return {
    attempt: async (seed) =>
      (seed % AS_IT_IS === 0 ? undefined : await inThread(seed)) ?? (await tryData(PARQUET, seed)),
    end() {
      void thread?.terminate();
      rmSync(outfile, { force: true });
    },
  };
}
