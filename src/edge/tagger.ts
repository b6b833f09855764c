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
  type Reason,
  withKnown,
} from "../metrics/prediction.ts";
import { Explainer } from "./explain.ts";
import { type Input, InputReader, type RawRow } from "./input.ts";
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
  /** Of a closed form: training points that are kept because they carry its mean. */
  points?: number;
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
  /** What was scored, and how much of it the model knows. */
  raw: RawRow;
}

/** A compact model, ready to predict. Made by `load`. */
export class Tagger {
  readonly info: TaggerInfo;
  #model: CompactModel | undefined;
  #input: InputReader | undefined;
  #scorer: Scorer | undefined;
  #explainer: Explainer | undefined;
  /** Names of labels, decoded as they are met. */
  #names: string[] = [];
  /** The lists that were last asked for, and the labels they leave. */
  #lists: LabelLists = {};
  #allowed: Uint8Array | undefined;

  /** Use load(). */
  constructor(model: CompactModel, scorer: Scorer, stems?: Stems) {
    const { kernel, features, labels, factors, variance, text, closed } = model.about;
    this.#model = model;
    this.#input = new InputReader(model, stems);
    this.#scorer = scorer;
    const fromText = text !== undefined;
    const calibrated = model.calibrator !== undefined;
    this.info = {
      kernel: closed && factors === 0 ? closed.kernel : kernel,
      features,
      labels,
      factors,
      ...(closed && { points: closed.points }),
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
        found.push(this.#predictions(scores, this.#best(scores, topK, threshold ?? 0), options));
    return found;
  }

  #best(scores: KnownScores, topK: number, threshold: Threshold): RankedLabel[] {
    const { about } = this.#alive();
    const { logits } = scores;
    // Where each label has a threshold of its own, the best may not reach theirs.
    const [least, most] = [leastOf(threshold), typeof threshold === "number" ? topK : about.labels];
    const ranked = logits
      ? mostCalibrated(logits, most, least, this.#allowed)
      : mostProbable(scores, most, least, this.#allowed);
    return ranked.filter(({ label, probability }) => reaches(threshold, label, probability)).slice(0, topK);
  }

  #predictions(
    scores: KnownScores,
    found: RankedLabel[],
    { sd = true, explain }: PredictOptions,
  ): Predictions {
    const { about } = this.#alive();
    const deviates = sd && !scores.logits && about.variance !== "none";
    const reasons =
      explain === undefined
        ? undefined
        : this.#why().reasons(
            scores.raw,
            found.map(({ label }) => label),
            explain,
          );
    const labels = found.map(
      ({ label, probability }, i): Prediction => ({
        label: this.#name(label),
        probability,
        ...(deviates && { sd: Math.sqrt(scores.variance(label)) }),
        ...(reasons && { reasons: reasons[i] as Reason[] }),
      }),
    );
    return withKnown(labels, scores.raw.known);
  }

  #why(): Explainer {
    const model = this.#alive();
    this.#explainer ??= new Explainer(model, this.#input as InputReader, (this.#scorer as Scorer).parts);
    return this.#explainer;
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
    const reader = this.#input as InputReader;
    const rows = inputs.map((input) => reader.read(input));
    const scored = (this.#scorer as Scorer).scores(rows.map((raw) => reader.transformed(raw)));
    return scored.map((scores, i) => ({ ...scores, raw: rows[i] as RawRow }));
  }

  /** Lets go of the model's memory. */
  dispose(): void {
    this.#model = undefined;
    this.#input = undefined;
    this.#scorer = undefined;
    this.#explainer = undefined;
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
