// A trained model as a predictor: the scores of its parts, block by block, and the probabilities the calibrator makes of them.

import type { Backend } from "../backend/backend.ts";
import type { Calibrator } from "../base/calibrator.ts";
import { logitOf } from "../base/math.ts";
import { EXPECTED_DEPTH, type Reason, type Thresholds } from "../base/prediction.ts";
import { type SparseRows, sliceRows } from "../base/sparse.ts";
import { insertBest, type RankedValue } from "../base/top.ts";
import { calibrateBlock, logisticBlock } from "../calibrate/block.ts";
import {
  calibratedDeviation,
  calibratePoint,
  logistic,
  type PreparedCalibrator,
  prepareCalibrator,
} from "../calibrate/forward.ts";
import type { Core, Precision } from "../core/core.ts";
import { topK } from "../core/dense.ts";
import { type Matrix, matrix, Scope } from "../core/matrix.ts";
import { transformedRows } from "../data/transform.ts";
import type { Model } from "../model/model.ts";
import { atLabels, chooseRows, type LabelChoice } from "../parts/choose.ts";
import { familyOf, moverOf, type Part, scoreNames, scoring } from "../parts/index.ts";
import { checkNorms, maxNorm } from "../parts/overflow.ts";
import type { BlockScorer, Deviation, ModelSchema } from "../parts/part.ts";
import type { BestLabels, ChosenLabels, Predictor, ScoreOptions, Scores } from "../parts/predictor.ts";
import type { LogitMover } from "../parts/row.ts";

/** Points scored together. */
const BLOCK = 256;

export interface ScoredBlock {
  firstRow: number;
  rows: number;
  /** One matrix [rows,K] for each part, used again for the next block. */
  scores: Matrix[];
  texts?: readonly string[] | undefined;
  /** Standard deviations of independent scores, where asked for and where every part has one: which parts move by them, and how far. */
  deviations?: readonly { readonly moves: readonly boolean[]; readonly by: Deviation }[];
}

export class ScoreSource {
  readonly schema: ModelSchema;
  /** Names of the scores, as a calibrator has them. */
  readonly names: readonly string[];
  readonly #core: Core;
  readonly #parts: readonly Part[];
  readonly #scorers: readonly BlockScorer[];
  /** The longest row that it can be given. */
  readonly #maxNorm: number;

  constructor(on: { core: Core; backend: Backend }, schema: ModelSchema, parts: readonly Part[]) {
    this.#core = on.core;
    this.schema = schema;
    const own = scoring(parts);
    this.#parts = own;
    this.names = scoreNames(own);
    this.#scorers = own.map((part) => {
      const family = familyOf(part);
      return (family.open as NonNullable<typeof family.open>)(part, schema, on);
    });
    this.#maxNorm = maxNorm(parts.map((part) => familyOf(part).bounds(part, schema)));
  }

  /** All points, a block at a time. */
  async *blocks(features: SparseRows, deviations = false): AsyncGenerator<ScoredBlock> {
    const { labels: k, transform } = this.schema;
    const scope = new Scope();
    try {
      const room = this.names.map(() => scope.keep(matrix(this.#core, Math.min(BLOCK, features.rows), k, "f32")));
      for (let first = 0; first < features.rows; first += BLOCK) {
        const count = Math.min(BLOCK, features.rows - first);
        const scores = room.map((all) => all.rowRange(0, count));
        const rows = transformedRows(features, transform, first, count);
        checkNorms(this.#maxNorm, rows, first);
        const block = { first, given: sliceRows(features, first, count), rows };
        const found: (Deviation | undefined)[] = [];
        for (const [i, scorer] of this.#scorers.entries())
          found.push(await scorer.score({ ...block, before: scores.slice(0, i) }, scores[i], deviations));
        const { texts } = block.given;
        yield {
          firstRow: first,
          rows: count,
          scores,
          texts,
          deviations: deviations ? this.#deviations(found) : undefined,
        };
      }
    } finally {
      scope.free();
    }
  }

  /** Where the first part gives them alone. */
  readonly scoreOf: NonNullable<Predictor["scoreOf"]> = (features, left, labels) => {
    const [{ scoreOf }] = this.#scorers;
    if (!scoreOf) return undefined;
    const row = transformedRows(features, this.schema.transform, 0, 1);
    checkNorms(this.#maxNorm, row, 0);
    return scoreOf(row, left, labels);
  };

  /** A part that follows another moves with it. If one part could not tell, the others would say too little. */
  #deviations(found: readonly (Deviation | undefined)[]): ScoredBlock["deviations"] {
    const own = this.#parts.map((part) => familyOf(part).follow === undefined);
    if (found.some((deviation, i) => own[i] && deviation === undefined)) return undefined;
    return found.flatMap((by, i) => (by ? [{ by, moves: own.map((isOwn, j) => j === i || (!isOwn && j > i)) }] : []));
  }

  free(): void {
    for (const scorer of this.#scorers) scorer.free();
  }
}

/** Sums of the probabilities of the best labels of each row. */
function topSums(logits: Matrix, beyond: readonly RankedValue[][]): Float64Array {
  const depth = Math.min(EXPECTED_DEPTH, logits.columns);
  const { values } = topK(logits, depth);
  return Float64Array.from({ length: logits.rows }, (_, i) => {
    const own = Array.from(values.subarray(i * depth, (i + 1) * depth));
    const best = [...own, ...(beyond[i] ?? []).map(({ value }) => value)].sort((a, b) => b - a);
    return best.slice(0, depth).reduce((sum, logit) => sum + logistic(logit), 0);
  });
}

/** Labels beyond the model's with their probabilities, where there may be some. */
const probabilitiesOf = (beyond: readonly RankedValue[][]): Pick<Scores, "beyond"> =>
  beyond.length === 0
    ? {}
    : { beyond: beyond.map((own) => own.map(({ label, value }) => ({ label, value: logistic(value) }))) };

export class CalibratedPredictor implements Predictor {
  readonly schema: ModelSchema;
  readonly thresholds: Thresholds | undefined;
  readonly #core: Core;
  readonly #source: ScoreSource;
  readonly #prepared: PreparedCalibrator;
  readonly #mover: LogitMover | undefined;

  constructor(core: Core, source: ScoreSource, calibrator: Calibrator, thresholds?: Thresholds, mover?: LogitMover) {
    this.#mover = mover;
    this.schema = source.schema;
    this.thresholds = thresholds;
    this.#core = core;
    this.#source = source;
    this.#prepared = prepareCalibrator(calibrator, source.schema);
  }

  readonly scoreOf: Predictor["scoreOf"] = (...asked) => this.#source.scoreOf(...asked);

  async *score(features: SparseRows, want: ScoreOptions = {}): AsyncGenerator<Scores> {
    for await (const block of this.#source.blocks(features)) {
      const { firstRow, rows, scores } = block;
      const found: Scores = { firstRow, rows, utility: scores[0].toArray() };
      if (want.probability)
        this.#calibrated(block, false, (probability, beyond) => {
          found.probability = probability.toArray();
          Object.assign(found, probabilitiesOf(beyond));
        });
      yield found;
    }
  }

  async *best(features: SparseRows, depth: number): AsyncGenerator<BestLabels> {
    for await (const block of this.#source.blocks(features)) {
      const { firstRow, rows } = block;
      // Logits rank as probabilities do, and do not tie where these are all but 1.
      yield this.#calibrated(block, true, (logits, beyond) => {
        const { indices: labels, values } = topK(logits, depth);
        beyond.forEach((own, i) => {
          insertBest(own, labels, values, i * depth, depth);
        });
        return { firstRow, rows, labels, values: values.map(logistic), ...probabilitiesOf(beyond) };
      });
    }
  }

  async *choose(features: SparseRows, choice: LabelChoice, deviations = true): AsyncGenerator<ChosenLabels> {
    const { labels: k } = this.schema;
    for await (const block of this.#source.blocks(features, deviations)) {
      const { rows, scores, deviations: spreads } = block;
      const chosen = this.#calibrated(block, true, (logits, beyond) => {
        const lists = chooseRows(logits.view(), k, logistic, choice, beyond);
        const probability = Float64Array.from(lists.values, logistic);
        const top = topSums(logits, beyond);
        const utility = atLabels(scores[0].view(), k, lists);
        return { rows, ...lists, utility, probability, top, ...probabilitiesOf(beyond) };
      });
      yield { ...chosen, sd: spreads && this.#deviations(scores, chosen, spreads) };
    }
  }

  /** Standard deviations of the probabilities of some labels of each row, from those of independent scores. */
  #deviations(
    scores: readonly Matrix[],
    { rowStart, labels, probability }: Omit<ChosenLabels, "sd">,
    deviations: NonNullable<ScoredBlock["deviations"]>,
  ): Float64Array {
    const { labels: k } = this.schema;
    const views = scores.map((all) => all.view());
    const out = new Float64Array(labels.length);
    for (let row = 0; row + 1 < rowStart.length; row++) {
      if (rowStart[row] === rowStart[row + 1]) continue;
      const own = views.map((all) => all.subarray(row * k, (row + 1) * k));
      const point = calibratePoint(this.#prepared, own);
      for (let at = rowStart[row]; at < rowStart[row + 1]; at++) {
        const p = probability[at];
        // A label that no score speaks of may be anywhere.
        if (labels[at] >= k) {
          out[at] = Math.sqrt(p * (1 - p));
          continue;
        }
        let squares = 0;
        for (const { by, moves } of deviations) {
          const spread = by(row, labels[at]);
          const spreads = moves.map((moved) => (moved ? spread : 0));
          squares += calibratedDeviation(this.#prepared, point, labels[at], spreads, p) ** 2;
        }
        out[at] = Math.min(Math.sqrt(p * (1 - p)), Math.sqrt(squares));
      }
    }
    return out;
  }

  /** The outcome of `use` on the probabilities, or logits, of a block, and on labels beyond those that have scores. */
  #calibrated<T>(
    { scores, texts }: Pick<ScoredBlock, "scores" | "texts">,
    logit: boolean,
    use: (out: Matrix, beyond: RankedValue[][]) => T,
  ): T {
    const { rows, columns } = scores[0];
    const out = matrix(this.#core, rows, columns, "f32");
    const mover = this.#mover;
    try {
      if (!mover || !texts) return use(calibrateBlock(this.#prepared, { scores }, out, { logit }), []);
      calibrateBlock(this.#prepared, { scores }, out, { logit: true });
      const beyond = texts.map((text, i) => (text === "" ? [] : mover.move(text, out.rowRange(i, i + 1).view())));
      return use(logit ? out : logisticBlock(out), beyond);
    } finally {
      out.free();
    }
  }

  nameReason(text: string, label: number, probability: number): Reason | undefined {
    return this.#mover?.reason(text, label, logitOf(probability));
  }

  free(): void {
    this.#source.free();
  }
}

export function openPredictor(core: Core, backend: Backend, model: Model): Predictor {
  const { schema, parts, calibrator, thresholds } = model;
  if (calibrator) {
    const source = new ScoreSource({ core, backend }, schema, parts);
    return new CalibratedPredictor(core, source, calibrator, thresholds, moverOf(parts, schema));
  }
  const alone = familyOf(parts[0]).predictor?.(parts[0], schema, backend);
  if (!alone) throw new Error("found a model without a calibrator, expected one: its scores are no probabilities");
  return alone;
}

/** The precision that a model's parts want of a device. */
export const precisionOf = ({ parts }: Pick<Model, "parts">): Precision =>
  parts.some((part) => familyOf(part).precision?.(part) === "f64") ? "f64" : "f32";
