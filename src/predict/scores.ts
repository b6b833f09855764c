// The scores that a calibrator makes probabilities of, whichever parts of a model they come from: "gaussian" (the closed
// form), "stack" (its labels helping each other) and "utility" (the logit of the Bernoulli model's own probability,
// which integrates the variance).

import { knownByFeatures } from "../closed/evidence.ts";
import { type ClosedScorer, closedScorer } from "../closed/scorer.ts";
import { type KnownPart, knownPart } from "../closed/variance.ts";
import type { Core } from "../core/core.ts";
import { combine, map } from "../core/dense.ts";
import { type Matrix, matrix, type RealArray, Scope } from "../core/matrix.ts";
import type { SparseRows } from "../data/dataset.ts";
import { slicedRows, transformedRows } from "../data/transform.ts";
import type { LatentPredictor } from "../model/latentPredictor.ts";
import type { ModelFrame } from "../model/model.ts";
import { type ClosedNumbers, closedReach, squaresWithin } from "../model/reach.ts";

/** Points scored together. */
const BLOCK = 256;

export interface ScoredBlock {
  firstRow: number;
  rows: number;
  /** One matrix [rows,K] for each name, used again for the next block. */
  scores: Matrix[];
  /** Of labels of each row, where asked for and where the model has them. */
  deviations?: Deviations;
}

/** Standard deviations of scores that are independent of each other. */
export interface Deviations {
  /** Of the Gaussian score, which the stack moves with. */
  gaussian?: Deviation;
  /** Of the Bernoulli model's. */
  utility?: Deviation;
}

type Deviation = (row: number, label: number) => number;

/** Names of the scores of a model with these parts, in the order they are given. */
export function scoreNames(model: { stack?: unknown; latent?: unknown; closed?: unknown }): string[] {
  if (model.closed === undefined) return ["utility"];
  return ["gaussian", ...(model.stack ? ["stack"] : []), ...(model.latent ? ["utility"] : [])];
}

/** Scores of every part of a model. */
export class ScoreSource {
  readonly frame: ModelFrame;
  readonly names: readonly string[];
  readonly #core: Core;
  readonly #closed: ClosedScorer | undefined;
  /** The longest row that it can be given. */
  readonly #reach: number;
  readonly #latent: LatentPredictor | undefined;
  readonly #numbers: ClosedNumbers | undefined;
  /** Made when it is first asked for. */
  #known: Pick<KnownPart, "unknown" | "free"> | undefined;

  constructor(
    core: Core,
    frame: ModelFrame,
    closed: ClosedNumbers | undefined,
    latent: LatentPredictor | undefined,
  ) {
    this.#core = core;
    this.frame = frame;
    this.names = scoreNames({ ...closed, latent });
    this.#closed = closed && closedScorer(core, closed, frame.transform);
    this.#reach = closed ? closedReach(closed) : Number.POSITIVE_INFINITY;
    this.#latent = latent;
    this.#numbers = closed;
  }

  /** All points, a block at a time. */
  async *blocks(features: SparseRows, deviations = false): AsyncGenerator<ScoredBlock> {
    const { labels: k, transform } = this.frame;
    const scope = new Scope();
    try {
      const room = this.names.map(() =>
        scope.keep(matrix(this.#core, Math.min(BLOCK, features.rows), k, "f32")),
      );
      for (let first = 0; first < features.rows; first += BLOCK) {
        const rows = Math.min(BLOCK, features.rows - first);
        const scores = room.map((all) => all.rowRange(0, rows));
        if (this.#closed) {
          const given = transformedRows(features, transform, first, rows);
          squaresWithin(this.#reach, given, first);
          this.#closed.scores(given, scores[0] as Matrix);
          if (this.names.includes("stack")) this.#closed.stacked(scores[0] as Matrix, scores[1] as Matrix);
        }
        const gaussian = deviations ? await this.#gaussian(features, first, rows) : undefined;
        // Of two likelihoods, one alone would say too little.
        const whole = deviations && (gaussian !== undefined || this.#closed === undefined);
        const own = slicedRows(features, first, rows);
        const utility =
          this.#latent && (await this.#utilities(this.#latent, own, scores.at(-1) as Matrix, whole));
        const known = { ...(gaussian && { gaussian }), ...(utility && { utility }) };
        yield { firstRow: first, rows, scores, ...(whole && { deviations: known }) };
      }
    } finally {
      scope.free();
    }
  }

  /**
   * A label that is there with frequency mu has the variance mu (1 - mu) before anything is known of a point; the part of
   * it that is still not known is the variance of its score.
   */
  async #gaussian(features: SparseRows, first: number, rows: number): Promise<Deviation | undefined> {
    const { closed, labelMean } = this.#numbers ?? {};
    if (closed === undefined || labelMean === undefined) return undefined;
    const { transform } = this.frame;
    this.#known ??=
      closed.form === "linear"
        ? knownByFeatures(closed, transform)
        : await knownPart(this.#core, closed, transform);
    if (this.#known === undefined) return undefined;
    const unknown = this.#known.unknown(transformedRows(features, transform, first, rows));
    return (row, label) => {
      const mean = labelMean[label] as number;
      return Math.sqrt(Math.max(0, mean * (1 - mean) * (unknown[row] as number)));
    };
  }

  /**
   * out = log p - log (1 - p), p of the Bernoulli model; its deviations where they are wanted. It is about f / sqrt(1 + pi v / 8), f and v
   * the utility's mean and variance: when f moves by sqrt v it moves by sqrt(v / (1 + pi v / 8)).
   */
  async #utilities(
    latent: LatentPredictor,
    features: SparseRows,
    out: Matrix,
    deviations: boolean,
  ): Promise<Deviation | undefined> {
    const { labels: k } = this.frame;
    const variances: RealArray[] = [];
    const want = { probability: true, variance: deviations };
    for await (const { firstRow, rows, probability, variance } of latent.score(features, want)) {
      logits(probability as RealArray, out.rowRange(firstRow, firstRow + rows));
      for (let i = 0; variance && i < rows; i++) variances.push(variance.subarray(i * k, (i + 1) * k));
    }
    if (!deviations) return undefined;
    return (row, label) => {
      const variance = Math.max(0, variances[row]?.[label] as number);
      return Math.sqrt(variance / (1 + (Math.PI / 8) * variance));
    };
  }

  free(): void {
    this.#closed?.free();
    this.#known?.free();
  }
}

/** The least and the greatest probability in single precision that have a logit. */
const [LEAST, MOST] = [1e-30, 1 - 2 ** -24];

function logits(probability: ArrayLike<number>, out: Matrix): void {
  const { core, rows, columns } = out;
  const present = matrix(core, rows, columns, "f32");
  const absent = matrix(core, rows, columns, "f32");
  const [p, q] = [present.view(), absent.view()];
  for (let i = 0; i < p.length; i++) {
    p[i] = Math.min(MOST, Math.max(LEAST, probability[i] as number));
    q[i] = 1 - (p[i] as number);
  }
  map("log", present, present);
  map("log", absent, absent);
  combine("subtract", present, absent, out);
  present.free();
  absent.free();
}
