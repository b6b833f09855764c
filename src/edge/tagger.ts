// A loaded compact model: texts or features in, labels with probabilities out, synchronously.

import { logistic } from "../calibrate/forward.ts";
import { ArgumentError } from "../core/errors.ts";
import { allowedLabels, type LabelLists } from "../metrics/allowed.ts";
import { plainThreshold } from "../metrics/cut.ts";
import {
  checkPredictOptions,
  type Prediction,
  type Predictions,
  type PredictOptions,
  withKnown,
} from "../metrics/prediction.ts";
import { calibratedLogits, utilityScores } from "./calibrated.ts";
import { fromHalf } from "./half.ts";
import { type Input, InputReader } from "./input.ts";
import { Latent, type LatentPoint } from "./latent.ts";
import { LARGEST_MEAN } from "./limits.ts";
import { labelProbability } from "./probability.ts";
import { mostCalibrated, mostProbable, type RankedLabel } from "./ranking.ts";
import type { CompactModel } from "./read.ts";
import { GROUP, type LabelLayer } from "./utilities.ts";

/** What a loaded model is. */
export interface TaggerInfo {
  kernel: string;
  features: number;
  labels: number;
  factors: number;
  /** "exact", "low-rank", "diagonal" or "none" */
  variance: string;
  /** Whether a calibrator makes the probabilities. */
  calibrated: boolean;
  fromText: boolean;
  /** Of the model file. */
  bytes: number;
  /** What computes the label scores; both give the same numbers. */
  path: "wasm" | "plain";
}

/** Scores of one input, in arrays that the next one uses again. */
export interface RawScores {
  /** Mean utilities [K]. */
  utilities: Float64Array;
  /** Variance of the utility of a label. */
  variance(label: number): number;
  /** Probability of a label. */
  probability(label: number): number;
}

/** Scores of one input with the calibrated logits [K], where the model is calibrated. */
interface CalibratedScores extends RawScores {
  logits: Float64Array | undefined;
  /** Part of the input that the model knows. */
  known: number;
}

/** A compact model, ready to predict. Made by `load`. */
export class Tagger {
  readonly info: TaggerInfo;
  #model: CompactModel | undefined;
  #input: InputReader | undefined;
  #latent: Latent | undefined;
  #layer: LabelLayer | undefined;
  /** Room for a group of inputs, made as it is needed. */
  #points: LatentPoint[] = [];
  /** Names of labels, decoded as they are met. */
  #names: string[] = [];
  /** The lists that were last asked for, and the labels they leave. */
  #lists: LabelLists = {};
  #allowed: Uint8Array | undefined;

  /** Use load(). */
  constructor(model: CompactModel, layer: LabelLayer, path: "wasm" | "plain") {
    const { kernel, features, labels, factors, variance, text } = model.about;
    this.#model = model;
    this.#input = new InputReader(model);
    this.#latent = new Latent(model);
    this.#layer = layer;
    const fromText = text !== undefined;
    const calibrated = model.calibrator !== undefined;
    this.info = {
      kernel,
      features,
      labels,
      factors,
      variance,
      calibrated,
      fromText,
      bytes: model.bytes,
      path,
    };
  }

  /** Names of all labels. */
  get labels(): readonly string[] {
    return Array.from({ length: this.#alive().about.labels }, (_, label) => this.#name(label));
  }

  /** The best labels of an input, most probable first; or of each of many in a list, which is faster than one by one. */
  predict(input: Input, options?: PredictOptions): Predictions;
  predict(inputs: readonly Input[], options?: PredictOptions): Predictions[];
  predict(input: Input | readonly Input[], options: PredictOptions = {}): Predictions | Predictions[] {
    return Array.isArray(input)
      ? this.predictMany(input, options)
      : (this.predictMany([input as Input], options)[0] as Predictions);
  }

  /** The same for anything that can be gone through. */
  predictMany(inputs: Iterable<Input>, options: PredictOptions = {}): Predictions[] {
    checkPredictOptions(options);
    const { allow, deny } = options;
    const threshold = plainThreshold(options);
    const topK = options.topK ?? (threshold === undefined ? 5 : Number.MAX_SAFE_INTEGER);
    if (allow !== this.#lists.allow || deny !== this.#lists.deny) {
      this.#allowed = allowedLabels(this.labels, options);
      this.#lists = options;
    }
    const list = Array.isArray(inputs) ? (inputs as Input[]) : Array.from(inputs);
    const found: Predictions[] = [];
    for (let first = 0; first < list.length; first += GROUP)
      for (const scores of this.#scores(list.slice(first, first + GROUP)))
        found.push(withKnown(this.#best(scores, topK, threshold ?? 0), scores.known));
    return found;
  }

  #best(scores: CalibratedScores, topK: number, threshold: number): Prediction[] {
    const { about } = this.#alive();
    const { logits } = scores;
    const found = logits
      ? mostCalibrated(logits, topK, threshold, this.#allowed)
      : mostProbable(scores, topK, threshold, this.#allowed);
    return found.map(({ label, probability }: RankedLabel): Prediction => {
      const name = this.#name(label);
      return logits || about.variance === "none"
        ? { label: name, probability }
        : { label: name, probability, sd: Math.sqrt(scores.variance(label)) };
    });
  }

  #name(label: number): string {
    this.#names[label] ??= this.#alive().labelName(label);
    return this.#names[label] as string;
  }

  /** Utilities of every label; for evaluation. */
  score(input: Input): RawScores {
    return this.#scores([input])[0] as RawScores;
  }

  /** Scores of a group of inputs. */
  #scores(inputs: readonly Input[]): CalibratedScores[] {
    const model = this.#alive();
    const latent = this.#latent as Latent;
    const known: number[] = [];
    const points = inputs.map((input, i) => {
      this.#points[i] ??= latent.point();
      const point = this.#points[i] as LatentPoint;
      const row = (this.#input as InputReader).row(input);
      known.push(row.known);
      latent.compute(row, point);
      // Single precision goes on with the means; beyond it there is nothing to compute with.
      if (!point.mean.every((mean) => Math.abs(mean) <= LARGEST_MEAN))
        throw new ArgumentError("input", "found values too large to compute with, expected smaller ones");
      return point;
    });
    const utilities = (this.#layer as LabelLayer).utilities(points.map(({ mean }) => mean));
    return points.map(({ variance }, i) => ({
      ...this.#judged(model, utilities[i] as Float64Array, variance),
      known: known[i] as number,
    }));
  }

  /** Utilities and latent variance of an input, with what probabilities are made of. */
  #judged(
    model: CompactModel,
    utilities: Float64Array,
    latentVariance: Float64Array,
  ): Omit<CalibratedScores, "known"> {
    const { spread, calibrator } = model;
    const variance = (label: number): number => {
      if (latentVariance.length === 0) return 0;
      return spread
        ? (latentVariance[0] as number) * (spread[label] as number)
        : ownVariance(model, latentVariance, label);
    };
    const logits =
      calibrator &&
      calibratedLogits(calibrator, [
        utilityScores({ utilities, variance }, new Float64Array(utilities.length)),
      ]);
    const probability = (label: number): number =>
      logits
        ? logistic(logits[label] as number)
        : labelProbability(utilities[label] as number, variance(label));
    return { utilities, variance, probability, logits };
  }

  /** Lets go of the model's memory. */
  dispose(): void {
    this.#model = undefined;
    this.#input = undefined;
    this.#latent = undefined;
    this.#layer = undefined;
    this.#points = [];
    this.#names = [];
    this.#lists = {};
    this.#allowed = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #alive(): CompactModel {
    if (!this.#model)
      throw new ArgumentError("tagger", "found one that was disposed of, expected a live one");
    return this.#model;
  }
}

/** sum_p phi_kp^2 s_p, where every factor has a variance of its own. */
function ownVariance({ phi }: CompactModel, variance: Float64Array, label: number): number {
  const { dtype, data, scale } = phi;
  const unit = scale?.[label] ?? 1;
  let sum = 0;
  for (let p = 0; p < variance.length; p++) {
    const stored = data[label * variance.length + p] as number;
    const value = unit * (dtype === "F16" ? fromHalf(stored) : stored);
    sum += value * value * (variance[p] as number);
  }
  return sum;
}
