// A loaded compact model: texts or features in, labels with probabilities out, synchronously.

import { ArgumentError } from "../core/errors.ts";
import type { Stems } from "../data/stem.ts";
import { allowedLabels, type LabelLists } from "../metrics/allowed.ts";
import { chosenThreshold, leastOf, reaches, type Threshold } from "../metrics/cut.ts";
import {
  checkPredictOptions,
  type Prediction,
  type Predictions,
  type PredictOptions,
  withKnown,
} from "../metrics/prediction.ts";
import { type Input, InputReader } from "./input.ts";
import { mostCalibrated, mostProbable, type RankedLabel } from "./ranking.ts";
import type { CompactModel } from "./read.ts";
import type { Scored, Scorer } from "./scorer.ts";
import { GROUP } from "./utilities.ts";

/** What a loaded model is. */
export interface TaggerInfo {
  kernel: string;
  features: number;
  labels: number;
  /** 0 where there are no latent functions: a Gaussian model. */
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
  /** Mean utilities [K]; of a Gaussian model without latent functions, its scores. */
  utilities: Float64Array;
  /** Variance of the utility of a label. */
  variance(label: number): number;
  /** Probability of a label. */
  probability(label: number): number;
}

interface KnownScores extends Scored {
  /** Part of the input that the model knows. */
  known: number;
}

/** A compact model, ready to predict. Made by `load`. */
export class Tagger {
  readonly info: TaggerInfo;
  #model: CompactModel | undefined;
  #input: InputReader | undefined;
  #scorer: Scorer | undefined;
  /** Names of labels, decoded as they are met. */
  #names: string[] = [];
  /** The lists that were last asked for, and the labels they leave. */
  #lists: LabelLists = {};
  #allowed: Uint8Array | undefined;

  /** Use load(). */
  constructor(model: CompactModel, scorer: Scorer, stems?: Stems) {
    const { kernel, features, labels, factors, variance, text } = model.about;
    this.#model = model;
    this.#input = new InputReader(model, stems);
    this.#scorer = scorer;
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
      path: scorer.path,
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
    const threshold = chosenThreshold(options, this.#alive().thresholds);
    const topK = options.topK ?? (threshold === undefined ? 5 : Number.MAX_SAFE_INTEGER);
    if (allow !== this.#lists.allow || deny !== this.#lists.deny) {
      this.#allowed = allowedLabels(this.labels, options);
      this.#lists = options;
    }
    const list = Array.isArray(inputs) ? (inputs as Input[]) : Array.from(inputs);
    const found: Predictions[] = [];
    for (let first = 0; first < list.length; first += GROUP)
      for (const scores of this.#scores(list.slice(first, first + GROUP)))
        found.push(withKnown(this.#best(scores, topK, threshold ?? 0, options.sd), scores.known));
    return found;
  }

  #best(scores: KnownScores, topK: number, threshold: Threshold, sd = true): Prediction[] {
    const { about } = this.#alive();
    const { logits } = scores;
    // Where each label has a threshold of its own, the best may not reach theirs.
    const [least, most] = [leastOf(threshold), typeof threshold === "number" ? topK : about.labels];
    const ranked = logits
      ? mostCalibrated(logits, most, least, this.#allowed)
      : mostProbable(scores, most, least, this.#allowed);
    const found = ranked
      .filter(({ label, probability }) => reaches(threshold, label, probability))
      .slice(0, topK);
    return found.map(({ label, probability }: RankedLabel): Prediction => {
      const name = this.#name(label);
      return logits || !sd || about.variance === "none"
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
  #scores(inputs: readonly Input[]): KnownScores[] {
    this.#alive();
    const rows = inputs.map((input) => (this.#input as InputReader).row(input));
    const scored = (this.#scorer as Scorer).scores(rows);
    return scored.map((scores, i) => ({ ...scores, known: (rows[i] as (typeof rows)[number]).known }));
  }

  /** Lets go of the model's memory. */
  dispose(): void {
    this.#model = undefined;
    this.#input = undefined;
    this.#scorer = undefined;
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
