// Offsets of ranks: what they do to a point's logits, in lists, in blocks and at the edge, and that a fit finds them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calibrateBlock } from "../../src/calibrate/block.ts";
import { fitRanks } from "../../src/calibrate/fit.ts";
import { moveByRank, prepareCalibrator, RANKS } from "../../src/calibrate/forward.ts";
import { type Core, matrix, matrixFrom, type Precision, scoped } from "../../src/core/index.ts";
import { calibratedScores } from "../../src/edge/scores.ts";
import { coreKinds, precisions, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";
import { sigmoid, someCalibrator, someFrequencies } from "./calibrators.ts";

const finite = { min: -30, max: 30, noNaN: true };
const someOffsets = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: RANKS });

/** By sorting, and one after another: the best goes where its rank says, each other at least a little below the one before. */
function movedByDefinition(logits: readonly number[], offsets: readonly number[]): number[] {
  const order = logits.map((_, k) => k).sort((a, b) => logits[b] - logits[a] || a - b);
  const moved = logits.slice();
  let before = Number.POSITIVE_INFINITY;
  order.forEach((k, rank) => {
    const limit = rank <= RANKS ? before - 1e-4 : before;
    before = Math.min(limit, logits[k] + (rank < RANKS ? (offsets[rank] ?? 0) : 0));
    moved[k] = before;
  });
  return moved;
}

describe("moved logits", () => {
  test("stay in their order, and are where their ranks say if that keeps it", () => {
    fc.assert(
      fc.property(fc.array(fc.double(finite), { maxLength: RANKS }), someOffsets, (values, offsets) => {
        const logits = values.sort((a, b) => b - a);
        const moved = moveByRank(logits, offsets);
        moved.forEach((value, rank) => {
          const alone = logits[rank] + (offsets[rank] ?? 0);
          expect(value).toBeLessThanOrEqual(alone);
          if (rank > 0) expect(value).toBeLessThan(moved[rank - 1]);
          if (rank === 0 || alone < moved[rank - 1] - 1e-4) expect(value).toBe(alone);
        });
      }),
    );
  });
});

describe("a block", () => {
  const rankOffsets = Float64Array.from({ length: RANKS }, (_, rank) => 0.4 - 0.1 * (rank % 7));

  /** The block's numbers with and without offsets of ranks; rows have gaps between them. */
  function both(core: Core, precision: Precision, rows: number, labels: number, logit: boolean) {
    const plain = someCalibrator(labels, 5);
    const frequencies = someFrequencies(labels, 500, 2);
    const scores = [0, 1].map((j) => randomNumbers(rows * labels, 20 + j).map((x) => Math.fround(0.4 + x)));
    const run = (ranked: boolean, logits: boolean) =>
      scoped((scope) => {
        const given = scores.map((values) => scope.keep(matrixFrom(core, rows, labels, values, precision)));
        const out = scope.keep(matrix(core, rows, labels + 3, precision)).block(0, 1, rows, labels);
        const calibrator = ranked ? { ...plain, rankOffsets } : plain;
        calibrateBlock(prepareCalibrator(calibrator, frequencies), { scores: given }, out, { logit: logits });
        return Array.from(out.toArray());
      });
    return { found: run(true, logit), logits: run(false, true) };
  }

  for (const precision of precisions) {
    test(`has every row moved, ${precision}`, async () => {
      await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
        for (const [rows, labels] of [
          [0, 4],
          [1, 1],
          [3, 7],
          [5, RANKS],
          [4, 90],
        ] as const) {
          for (const logit of [true, false]) {
            const { found, logits } = both(core, precision, rows, labels, logit);
            for (let i = 0; i < rows; i++) {
              const own = logits.slice(i * labels, (i + 1) * labels);
              movedByDefinition(own, [...rankOffsets]).forEach((value, k) => {
                const difference = found[i * labels + k] - (logit ? value : sigmoid(value));
                expect(Math.abs(difference)).toBeLessThan(precision === "f64" ? 1e-11 : 2e-5);
              });
            }
          }
        }
      });
    });
  }
});

describe("at the edge", () => {
  test("ranks are those among all labels, whichever are allowed and however many are listed", () => {
    const labels = fc.array(fc.record({ logit: fc.double(finite), allowed: fc.boolean() }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        labels,
        someOffsets,
        fc.nat(45),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (all, offsets, most, threshold, free) => {
          const logits = all.map(({ logit }) => logit);
          const allowed = free ? undefined : Uint8Array.from(all, (one) => Number(one.allowed));
          const kept = all.flatMap((_, k) => (allowed?.[k] === 0 ? [] : [k]));
          const found = calibratedScores({
            rankOffsets: offsets,
            of: (label) => logits[label],
            // As a model might: some labels that cannot be listed are left out.
            candidates: (many, least, only) => {
              const open = all.flatMap(({ logit }, k) => (only?.[k] === 0 || logit < least ? [] : [k]));
              const order = open.sort((a, b) => logits[b] - logits[a] || a - b);
              const listed = Int32Array.from(order.slice(0, many)).sort();
              return { labels: listed, values: Float64Array.from(listed, (k) => logits[k]) };
            },
          }).best(most, threshold, allowed);
          const moved = movedByDefinition(logits, offsets);
          const expected = kept
            .sort((a, b) => logits[b] - logits[a] || a - b)
            .slice(0, most)
            .map((label) => ({ label, probability: sigmoid(moved[label]) }));
          // Beside the threshold rounding may decide.
          const sure = expected.filter(({ probability }) => probability > threshold + 1e-9);
          expect(found.length).toBeGreaterThanOrEqual(sure.length);
          found.forEach(({ label, probability }, i) => {
            expect(label).toBe(expected[i]?.label);
            expect(Math.abs(probability - (expected[i]?.probability as number))).toBeLessThan(1e-9);
          });
        },
      ),
    );
  });
});

describe("the fit", () => {
  test("finds how much each rank is over- or underestimated, and keeps to nothing where there is little to see", () => {
    const next = generator(11);
    const planted = (rank: number): number => (rank === 0 ? -0.6 : rank === 1 ? 0.3 : 0);
    const make = (points: number) => {
      const labels = 8;
      const row = new Int32Array(points * labels);
      const logits = new Float64Array(points * labels);
      const signedWeight = new Float64Array(points * labels);
      for (let i = 0; i < points; i++) {
        const own = Array.from({ length: labels }, () => 4 * next() - 3).sort((a, b) => b - a);
        own.forEach((logit, rank) => {
          const pair = rank * points + i;
          row[pair] = i;
          logits[pair] = logit;
          signedWeight[pair] = next() < sigmoid(logit + planted(rank)) ? 1 : -1;
        });
      }
      return fitRanks({ row, signedWeight }, logits);
    };
    const { offsets } = make(20_000);
    [0, 1, 2, 3].forEach((rank) => {
      expect(Math.abs(offsets[rank] - planted(rank))).toBeLessThan(0.08);
    });
    expect(Math.max(...make(3).offsets.map(Math.abs))).toBeLessThan(0.5);
  });
});
