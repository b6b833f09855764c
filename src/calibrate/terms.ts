// Which rising functions of a score a calibrator is made of, by the name of the score.

import { ArgumentError } from "../base/errors.ts";
import type { ScoreTerm, TermShape } from "../core/calibrator.ts";
import { logistic } from "./forward.ts";

type Term = Omit<ScoreTerm, "score">;

const linear: Term = { shape: "linear", centre: 0, width: 0 };
const shaped = (shape: TermShape, width: number, ...centres: number[]): Term[] =>
  centres.map((centre) => ({ shape, centre, width }));
/** Soft logarithms of the positive part, by their widths. */
const logarithms = (...widths: number[]): Term[] => widths.flatMap((width) => shaped("log", width, 0));

interface KnownScore {
  readonly terms: readonly Term[];
  /** True for those that, with weight 1 each, add up to the logit of what the score says by itself. */
  readonly natural: (term: Term) => boolean;
  /** Strength of a point from the mean of its ten best. */
  readonly strength: Term;
  /** About how probable a label with this score is: says which labels are worth a look. */
  readonly guess: (score: number) => number;
}

/** log s - log (1 - s), soft within the given width: a regression on 0 and 1 is a probability but for its bends. */
const softLogit =
  (narrowest: number) =>
  ({ shape, width }: Term): boolean =>
    shape === "limit" || (shape === "log" && width === narrowest);

/** Scores of a Gaussian model lie about 0 to 1 and speak by their order of magnitude; those of a Bernoulli model are logits already. */
const KNOWN: Readonly<Record<string, KnownScore>> = {
  gaussian: {
    terms: [linear, ...logarithms(0.003, 0.01, 0.03, 0.1, 0.3), ...shaped("limit", 0.1, 1)],
    natural: softLogit(0.003),
    strength: { shape: "log", centre: 0, width: 0.03 },
    guess: (score) => 0.002 + Math.max(0, score),
  },
  stack: {
    terms: [linear, ...logarithms(0.01, 0.03, 0.1), ...shaped("limit", 0.1, 1)],
    natural: softLogit(0.01),
    strength: { shape: "log", centre: 0, width: 0.03 },
    guess: (score) => 0.002 + Math.max(0, score),
  },
  utility: {
    terms: [linear, ...shaped("hinge", 0.7, -6, -3, 0), ...shaped("cap", 0.7, -6, -3, 0)],
    natural: ({ shape }) => shape === "linear",
    strength: linear,
    guess: (score) => 1e-4 + logistic(score),
  },
};

/** Basis functions of the outer curve, whose score is a logit. */
export const OUTER_TERMS: readonly ScoreTerm[] = [
  linear,
  ...shaped("hinge", 0.5, -6, -4, -2.5, -1, 0.5, 2),
  ...shaped("cap", 0.5, -6, -4, -2.5, -1, 0.5, 2),
].map((term) => ({ ...term, score: 0 }));

/** Weights of the outer curve that leaves a logit as it is. */
export const IDENTITY: Float64Array = Float64Array.from([0, ...OUTER_TERMS], (_, i) => (i === 1 ? 1 : 0));

function known(name: string): KnownScore {
  const found = KNOWN[name];
  if (found) return found;
  const names = Object.keys(KNOWN).join(", ");
  throw new ArgumentError("scores", `found ${JSON.stringify(name)}, expected names among ${names}`);
}

/** The terms of scores with these names: each score itself, and its bends. */
export function termsOf(scores: readonly string[]): ScoreTerm[] {
  return scores.flatMap((name, score) => known(name).terms.map((term) => ({ ...term, score })));
}

/** The curve that takes the first score at its word: a constant of 0 and the weight of each term. */
export function naturalCurve(scores: readonly string[]): Float64Array {
  const natural = scores.flatMap((name, score) =>
    known(name).terms.map((term) => (score === 0 && known(name).natural(term) ? 1 : 0)),
  );
  return Float64Array.of(0, ...natural);
}

export function strengthOf([first = ""]: readonly string[]): ScoreTerm {
  return { ...known(first).strength, score: 0 };
}

export function guessOf([first = ""]: readonly string[]): (score: number) => number {
  return known(first).guess;
}
