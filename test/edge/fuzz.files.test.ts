// Model files are anybody's. Thousands of altered ones: each is refused in one sentence or is a model that predicts, and
// none makes its reader allocate more than twice the file. MLGPF_FUZZ=200000 tries more, MLGPF_FUZZ_SEED others;
// npm run bench -- trust tries millions.

import process from "node:process";
import { describe, expect, test } from "vitest";
import { compactSubject, fullSubject, type Subject, stateSubject, tryStranger } from "./strangers.ts";

const runs = Number(process.env.MLGPF_FUZZ ?? 10_000);
const seed = Number(process.env.MLGPF_FUZZ_SEED ?? 1);

/** In milliseconds; a file takes a fraction of one. */
const patience = Math.max(120_000, 10 * runs);

/** Tries all; how many were refused, and how many labels were predicted. */
async function tryAll(subject: Subject): Promise<{ refused: number; predicted: number }> {
  let [refused, predicted] = [0, 0];
  for (let i = 0; i < runs; i++) {
    const own = seed * 1_000_003 + i;
    const trial = await tryStranger(subject, own).catch((error: Error) => {
      throw new Error(`seed ${own}: ${error.stack}`);
    });
    if (trial.refused) refused++;
    predicted += trial.predicted;
  }
  subject.free();
  return { refused, predicted };
}

describe(`${runs} altered files`, () => {
  for (const [name, make] of Object.entries({ compact: compactSubject, full: fullSubject }))
    test(
      `of a ${name} model are refused or predict`,
      async () => {
        const subject = await make();
        for (const file of subject.files) expect((await subject.attempt(file)).length).toBe(3);
        const { refused, predicted } = await tryAll(subject);
        // Neither all nor nothing: both outcomes are met often.
        expect(refused).toBeGreaterThan(runs / 2);
        expect(predicted).toBeGreaterThan(runs / 10);
      },
      patience,
    );

  test(
    "of a state for learning are refused or whole",
    async () => {
      const subject = await stateSubject();
      for (const file of subject.files) expect(await subject.attempt(file)).toEqual([]);
      const { refused } = await tryAll(subject);
      expect(refused).toBeGreaterThan(runs / 2);
      expect(refused).toBeLessThan(runs);
    },
    patience,
  );
});
