// Sums over pairs and effects of labels, against plain loops.

import { describe, expect, test } from "vitest";
import { type LabelEffects, ScorePairs, type ScoreTerm } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

const terms: ScoreTerm[] = [
  { score: 1, shape: "linear", centre: 0.2, width: 0 },
  { score: 0, shape: "log", centre: 0, width: 0.03 },
  { score: 1, shape: "hinge", centre: -0.1, width: 0.2 },
];

/** Pairs of some labels, one of which has none. */
function somePairs(pairs: number, labels: number) {
  const next = generator(pairs);
  const counts = new Int32Array(labels);
  for (let i = 0; i < pairs; i++) {
    const k = Math.floor(next() * next() * labels);
    counts[k === 1 ? 0 : k] = (counts[k === 1 ? 0 : k] as number) + 1;
  }
  const labelStart = new Int32Array(labels + 1);
  for (let k = 0; k < labels; k++) labelStart[k + 1] = (labelStart[k] as number) + (counts[k] as number);
  return {
    scores: [randomNumbers(pairs, 1), randomNumbers(pairs, 2)],
    labelStart,
    pointLog: randomNumbers(pairs, 3),
    signedWeight: Float64Array.from({ length: pairs }, () => (next() < 0.3 ? 1 : -1 - 4 * next())),
    labelLog: randomNumbers(labels, 4),
  };
}
type Given = ReturnType<typeof somePairs>;

const labelOf = ({ labelStart }: Given, pair: number) =>
  labelStart.findIndex((_, k) => pair >= (labelStart[k] as number) && pair < (labelStart[k + 1] as number));

/** Columns of the design of a pair, by their definition. */
function design(given: Given, pair: number): number[] {
  const columns = terms.map(({ score, shape, centre, width }) => {
    const x = (given.scores[score]?.[pair] as number) - centre;
    const hinge = (x + Math.sqrt(x * x + 4 * width * width)) / 2;
    return shape === "linear" ? x : shape === "hinge" ? hinge : Math.log(hinge);
  });
  return [1, ...columns, given.labelLog[labelOf(given, pair)] as number, given.pointLog[pair] as number];
}
const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe("sums over pairs", () => {
  for (const kind of coreKinds) {
    test(`loss, gradient and curvature are those of a plain loop, ${kind.name}`, async () => {
      await withCore(kind, (core) => {
        for (const [count, labels] of [
          [0, 1],
          [1, 1],
          [37, 6],
          [9001, 4],
        ] as const) {
          const given = somePairs(count, labels);
          const held = new ScorePairs(core, terms, given);
          const parameters = [0.3, 0.5, 0.2, 1.1, -0.4, 0.6];
          const effects = {
            slope: randomNumbers(labels, 7).map((x) => 1 + 0.5 * x),
            shift: randomNumbers(labels, 8),
          };
          const { loss, gradient, curvature } = held.statistics(parameters, effects, true);
          const logits = held.logits(parameters);
          const expected = { loss: 0, gradient: new Float64Array(6), curvature: [] as number[][] };
          expected.curvature = Array.from({ length: 6 }, () => new Array<number>(6).fill(0));
          for (let pair = 0; pair < count; pair++) {
            const [x, k] = [design(given, pair), labelOf(given, pair)];
            const z = dot(x, parameters);
            expect(Math.abs(z - (logits[pair] as number))).toBeLessThan(1e-12);
            const slope = effects.slope[k] as number;
            const t = (effects.shift[k] as number) + slope * z;
            const weight = Math.abs(given.signedWeight[pair] as number);
            const y = (given.signedWeight[pair] as number) > 0 ? 1 : 0;
            const p = 1 / (1 + Math.exp(-t));
            expected.loss -= weight * Math.log(y ? p : 1 - p);
            for (let i = 0; i < 6; i++) {
              (expected.gradient[i] as number) += weight * slope * (p - y) * (x[i] as number);
              const row = expected.curvature[i] as number[];
              for (let j = 0; j <= i; j++)
                (row[j] as number) += weight * slope ** 2 * p * (1 - p) * (x[i] as number) * (x[j] as number);
            }
          }
          const near = (found: number | undefined, wanted: number) =>
            expect(Math.abs((found as number) - wanted)).toBeLessThan(1e-11 * (1 + Math.abs(wanted) + count));
          near(loss, expected.loss);
          expected.gradient.forEach((value, i) => {
            near(gradient[i], value);
          });
          expected.curvature
            .flatMap((row, i) => row.slice(0, i + 1))
            .forEach((value, i) => {
              near(curvature[i], value);
            });
          held.free();
        }
      });
    });
  }
});

describe("effects of labels", () => {
  const prior = { centre: 0.4, offsetVariance: 0.3, slopeVariance: 0.2, slopeRange: [-0.7, 2] as const };

  test("are where the penalised loss of each label is least, within the bounds", async () => {
    for (const kind of coreKinds) {
      await withCore(kind, (core) => {
        const labels = 7;
        const given = somePairs(600, labels);
        // Label 0 is nearly all positive: without the prior its offset would run away.
        for (let pair = 0; pair < (given.labelStart[1] as number); pair++) given.signedWeight[pair] = 1;
        const held = new ScorePairs(core, terms, given);
        const parameters = [0.3, 0.5, 0.8, 4, -0.4, 0.6];
        const mean = {
          offsets: randomNumbers(labels, 9),
          slopes: randomNumbers(labels, 10).map((x) => 0.3 * x),
        };
        const zero = { offsets: new Float64Array(labels), slopes: new Float64Array(labels) };
        const found = held.labelEffects(parameters, { ...prior, mean }, zero);
        const z = held.logits(parameters);
        const penalised = (k: number, u: number, a: number): number => {
          let sum = (u - (mean.offsets[k] as number)) ** 2 / (2 * prior.offsetVariance);
          sum += (a - (mean.slopes[k] as number)) ** 2 / (2 * prior.slopeVariance);
          for (let pair = given.labelStart[k] as number; pair < (given.labelStart[k + 1] as number); pair++) {
            const t = (z[pair] as number) + u + a * ((z[pair] as number) - prior.centre);
            const signed = given.signedWeight[pair] as number;
            sum += Math.abs(signed) * Math.log1p(Math.exp(signed > 0 ? -t : t));
          }
          return sum;
        };
        let bounded = 0;
        for (let k = 0; k < labels; k++) {
          const [u, a] = [found.offsets[k] as number, found.slopes[k] as number];
          const least = penalised(k, u, a);
          expect(a).toBeGreaterThanOrEqual(-0.7);
          if (a < -0.69) bounded++;
          for (const step of [1e-3, 0.1, 1])
            for (const [du, da] of [
              [1, 0],
              [-1, 0],
              [0, 1],
              [0, -1],
              [1, 1],
              [-1, 1],
              [1, -1],
            ] as const) {
              const slope = Math.min(2, Math.max(-0.7, a + da * step));
              expect(penalised(k, u + du * step, slope)).toBeGreaterThanOrEqual(least - 1e-9);
            }
        }
        // The parameters are too steep on purpose, so that a bound is met.
        expect(bounded).toBeGreaterThan(0);
        // A label without pairs stays where it is expected.
        expect(Math.abs((found.offsets[1] as number) - (mean.offsets[1] as number))).toBeLessThan(1e-12);
        expect(found.offsetVariances[1]).toBeCloseTo(prior.offsetVariance, 12);
        held.free();
      });
    }
  });

  test("are the same bytes for any number of threads", async () => {
    const results: LabelEffects[] = [];
    for (const kind of coreKinds.slice(0, 2)) {
      await withCore(kind, (core) => {
        const given = somePairs(20_001, 40);
        const held = new ScorePairs(core, terms, given);
        const zero = { offsets: new Float64Array(40), slopes: new Float64Array(40) };
        const parameters = [0.3, 0.5, 0.2, 1.1, -0.4, 0.6];
        results.push(held.labelEffects(parameters, { ...prior, mean: zero }, zero));
        held.free();
      });
    }
    expect(results[1]).toEqual(results[0]);
  });
});
