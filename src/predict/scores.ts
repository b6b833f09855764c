// The scores that a calibrator makes probabilities of, whichever parts of a model they come from: "gaussian" (the closed
// form), "stack" (its labels helping each other) and "utility" (the logit of the Bernoulli model's own probability,
// which integrates the variance).

import { type ClosedScorer, closedScorer } from "../closed/scorer.ts";
import { type KnownPart, knownPart } from "../closed/variance.ts";
import type { Core } from "../core/core.ts";
import { combine, map } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
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
  /** Standard deviation of the Gaussian score of a label of each row, where asked for and where the form has it. */
  deviation?: (row: number, label: number) => number;
}

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
  #known: KnownPart | undefined;

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
        if (this.#latent) await this.#utilities(slicedRows(features, first, rows), scores.at(-1) as Matrix);
        const deviation = deviations ? await this.#deviation(features, first, rows) : undefined;
        yield { firstRow: first, rows, scores, ...(deviation && { deviation }) };
      }
    } finally {
      scope.free();
    }
  }

  /**
   * A label that is there with frequency mu has the variance mu (1 - mu) before anything is known of a point; the part of
   * it that is still not known is the variance of its score.
   */
  async #deviation(
    features: SparseRows,
    first: number,
    rows: number,
  ): Promise<ScoredBlock["deviation"] | undefined> {
    const { closed, labelMean } = this.#numbers ?? {};
    if (closed === undefined || closed.form === "linear" || labelMean === undefined) return undefined;
    const { transform } = this.frame;
    this.#known ??= await knownPart(this.#core, closed, transform);
    const unknown = this.#known.unknown(transformedRows(features, transform, first, rows));
    return (row, label) => {
      const mean = labelMean[label] as number;
      return Math.sqrt(Math.max(0, mean * (1 - mean) * (unknown[row] as number)));
    };
  }

  /** out = log p - log (1 - p), p of the Bernoulli model. */
  async #utilities(features: SparseRows, out: Matrix): Promise<void> {
    const latent = this.#latent as LatentPredictor;
    for await (const { firstRow, rows, probability } of latent.score(features, { probability: true })) {
      const part = out.rowRange(firstRow, firstRow + rows);
      logits(probability as Float32Array, part);
    }
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
