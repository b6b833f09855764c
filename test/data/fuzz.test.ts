// Data files are anybody's. Thousands of altered ones of each format: each is a data set or is refused in one sentence, and
// none makes its reader allocate by anything but its length. MLGPF_FUZZ=1000000 tries more, MLGPF_FUZZ_SEED others.

import { describe, expect, test } from "vitest";
import { outcome, SAMPLES, tryData } from "./strangers.ts";

const { env = {} } = ((globalThis as { process?: unknown }).process ?? {}) as {
  env?: Record<string, string>;
};
const runs = Number(env.MLGPF_FUZZ ?? 400);
const seed = Number(env.MLGPF_FUZZ_SEED ?? 1);
const patience = Math.max(120_000, 10 * runs);

describe(`${runs} altered files`, () => {
  for (const [name, sample] of Object.entries(SAMPLES)) {
    test(
      `of ${name} are data sets or refused in one sentence`,
      async () => {
        for (const file of sample.files) expect(await outcome(file, sample)).toBe("read");
        let read = 0;
        for (let i = 0; i < runs; i++) {
          const own = seed * 1_000_003 + i;
          const { refused } = await tryData(sample, own).catch((error: Error) => {
            throw new Error(`seed ${own}: ${error.stack}`);
          });
          if (!refused) read++;
        }
        // Neither all nor nothing: both outcomes are met.
        expect(read).toBeGreaterThan(runs / 20);
        expect(read).toBeLessThan(runs);
      },
      patience,
    );
  }
});
