// Sums over pairs and offsets of labels, against plain loops.

import { describe, expect, test } from "vitest";
import { type Core, ScorePairs, type ScoreTerm } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

const terms: ScoreTerm[] = [
  { score: 1, shape: "linear", centre: 0.2, width: 0 },
  { score: 0, shape: "log", centre: 0, width: 0.03 },
  { score: 1, shape: "hinge", centre: -0.1, width: 0.2 },
  { score: 0, shape: "limit", centre: 1, width: 0.1 },
];
const [labelGates, pointGates] = [3, 2];
const width = 1 + terms.length;
const columns = labelGates * pointGates * width;

/** Pairs of some labels, one of which has none. */
function somePairs(pairs: number, labels: number) {
  const next = generator(pairs);
  const counts = new Int32Array(labels);
  for (let i = 0; i < pairs; i++) {
    const k = Math.floor(next() * next() * labels);
    counts[k === 1 ? 0 : k] = counts[k === 1 ? 0 : k] + 1;
  }
  const labelStart = new Int32Array(labels + 1);
  for (let k = 0; k < labels; k++) labelStart[k + 1] = labelStart[k] + counts[k];
  return {
    scores: [randomNumbers(pairs, 1), randomNumbers(pairs, 2)],
    labelStart,
    labelPlace: randomNumbers(pairs, 3).map((x) => 1 + x),
    pointPlace: randomNumbers(pairs, 4).map(Math.abs),
    signedWeight: Float64Array.from({ length: pairs }, () => (next() < 0.3 ? 1 : -1 - 4 * next())),
    offsets: randomNumbers(pairs, 5),
  };
}
type Given = ReturnType<typeof somePairs>;

const hold = (core: Core, { labelPlace, pointPlace, ...pairs }: Given) =>
  new ScorePairs(core, { terms, labelGates, pointGates, labelPlace, pointPlace }, pairs);

/** Columns of the design of a pair, by their definition. */
function design(given: Given, pair: number): number[] {
  const values = terms.map(({ score, shape, centre, width }) => {
    const x = given.scores[score]?.[pair] - centre;
    const hinge = (t: number) => (t + Math.sqrt(t * t + 4 * width * width)) / 2;
    if (shape === "linear") return x;
    return shape === "hinge" ? hinge(x) : shape === "log" ? Math.log(hinge(x)) : -Math.log(hinge(-x));
  });
  const gate = (place: number | undefined, knot: number) => Math.max(0, 1 - Math.abs((place as number) - knot));
  return Array.from({ length: columns }, (_, i) => {
    const corner = Math.floor(i / width);
    const label = gate(given.labelPlace[pair], Math.floor(corner / pointGates));
    return label * gate(given.pointPlace[pair], corner % pointGates) * (i % width ? values[(i % width) - 1] : 1);
  });
}

describe("sums over pairs", () => {
  for (const kind of coreKinds) {
    test(`logits, loss, gradient and curvature are those of a plain loop, ${kind.name}`, async () => {
      await withCore(kind, (core) => {
        const all = Array.from({ length: columns }, (_, i) => i);
        const few = [0, 3, 5, 14, 22, columns - 1];
        for (const [count, labels, chosen] of [
          [0, 1, few],
          [1, 1, few],
          [37, 6, all],
          [8201, 4, few],
          [8240, 3, all],
        ] as const) {
          const given = somePairs(count, labels);
          const held = hold(core, given);
          const parameters = randomNumbers(columns, 6);
          const logits = held.logits(parameters);
          const { value, gradient } = held.loss(parameters, given.offsets);
          const curvature = held.curvature(parameters, given.offsets, chosen);
          let loss = 0;
          const slopes = new Float64Array(columns);
          const bends = new Float64Array(curvature.length);
          for (let pair = 0; pair < count; pair++) {
            const x = design(given, pair);
            const z = x.reduce((sum, own, i) => sum + own * parameters[i], 0);
            expect(Math.abs(z - logits[pair])).toBeLessThan(1e-12);
            const p = 1 / (1 + Math.exp(-z - given.offsets[pair]));
            const signed = given.signedWeight[pair];
            const [weight, y] = [Math.abs(signed), signed > 0 ? 1 : 0];
            loss -= weight * Math.log(y ? p : 1 - p);
            x.forEach((own, i) => {
              slopes[i] = slopes[i] + weight * (p - y) * own;
            });
            let entry = 0;
            for (const [a, i] of chosen.entries())
              for (const j of chosen.slice(0, a + 1)) {
                bends[entry] = bends[entry] + weight * p * (1 - p) * x[i] * x[j];
                entry++;
              }
          }
          const near = (found: ArrayLike<number>, wanted: ArrayLike<number>) => {
            for (let i = 0; i < wanted.length; i++)
              expect(Math.abs(found[i] - wanted[i])).toBeLessThan(1e-12 * (10 + count));
          };
          near([value], [loss]);
          near(gradient, slopes);
          near(curvature, bends);
          held.free();
        }
      });
    });
  }

  test("a curvature from every third pair is near that of all", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      const given = somePairs(30_000, 5);
      const held = hold(core, given);
      const parameters = randomNumbers(columns, 6);
      const [all, some] = [1, 3].map((stride) => held.curvature(parameters, given.offsets, [0, 1, 7], stride));
      all?.forEach((entry, i) => {
        expect(Math.abs(some?.[i] / entry - 1)).toBeLessThan(0.1);
      });
      held.free();
    });
  });
});

describe("offsets of labels", () => {
  const variance = 0.3;

  /** Offsets at the scores of some pairs, and the loss they must make least. */
  function offsets(core: Core, takes?: (pair: number) => boolean) {
    const labels = 7;
    const given = somePairs(600, labels);
    // Label 0 is always there: without the prior its offset would run away.
    for (let pair = 0; pair < given.labelStart[1]; pair++) given.signedWeight[pair] = 1;
    const held = hold(core, given);
    const logits = given.offsets.map((x) => 5 * x);
    const mean = randomNumbers(labels, 9);
    const found = held.labelOffsets(logits, { mean, variance }, new Float64Array(labels), takes);
    held.free();
    const penalised = (k: number, u: number): number => {
      let sum = (u - mean[k]) ** 2 / (2 * variance);
      for (let pair = given.labelStart[k]; pair < given.labelStart[k + 1]; pair++) {
        const t = logits[pair] + u;
        const signed = given.signedWeight[pair];
        if (takes?.(pair) ?? true) sum += Math.abs(signed) * Math.log1p(Math.exp(signed > 0 ? -t : t));
      }
      return sum;
    };
    return { labels, mean, found, penalised };
  }

  for (const [name, takes] of [
    ["all pairs", undefined],
    ["some pairs", (pair: number) => pair % 3 !== 0],
  ] as const) {
    test(`are where the penalised loss of each label is least, ${name}`, async () => {
      for (const kind of coreKinds) {
        await withCore(kind, (core) => {
          const { labels, mean, found, penalised } = offsets(core, takes);
          for (let k = 0; k < labels; k++) {
            const u = found.offsets[k];
            for (const step of [-1, -0.1, -1e-3, 1e-3, 0.1, 1])
              expect(penalised(k, u + step)).toBeGreaterThan(penalised(k, u));
            const bend = (penalised(k, u + 1e-3) - 2 * penalised(k, u) + penalised(k, u - 1e-3)) / 1e-6;
            expect(found.variances[k] * bend).toBeCloseTo(1, 3);
          }
          // A label without pairs stays where it is expected.
          expect(Math.abs(found.offsets[1] - mean[1])).toBeLessThan(1e-12);
        });
      }
    });
  }
});
