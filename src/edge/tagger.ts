// A loaded compact model: texts or features in, labels with probabilities out, synchronously.

import { ArgumentError } from "../base/errors.ts";
import { type Input, listOfInputs } from "../base/input.ts";
import { logitOf } from "../base/math.ts";
import {
  allowedLabels,
  checkPredictOptions,
  chosenThreshold,
  EXPECTED_DEPTH,
  expectedOf,
  type LabelLists,
  leastOf,
  type Prediction,
  type Predictions,
  type PredictOptions,
  type Reason,
  reaches,
  type Threshold,
  withAbout,
  wordsToExplain,
} from "../base/prediction.ts";
import { asWritten, reasonsOf, weightiest, withName, wordsOfRow } from "../base/reasons.ts";
import { type Stemmer, Stems } from "../base/stem.ts";
import type { LabelScores, Row, RowMover, RowScorer } from "../parts/row.ts";
import { GROUP } from "./format.ts";
import { InputReader, type RawRow } from "./input.ts";
import { type CompactModel, readCompact } from "./read.ts";
import type { RankedLabel, RowScores } from "./scores.ts";

/** How a compact model is loaded. */
export interface LoadOptions {
  /** mlgpf/edge.wasm, imported by the bundler or compiled by the caller: several times faster, the same numbers. */
  wasm?: WebAssembly.Module;
  /** The stemmer of the model's language (`import * as english from "@orama/stemmers/english"`), or a function that gives it. */
  stem?: Stemmer | ((language: string) => Stemmer | Promise<Stemmer>);
  signal?: AbortSignal;
  /** Name of the model in errors: its path or address. */
  name?: string;
}

/** The tagger, and the model as it was read. */
export async function openTagger(
  bytes: Uint8Array,
  { wasm, stem, name }: LoadOptions,
): Promise<{ model: CompactModel; tagger: Tagger }> {
  const model = await readCompact(bytes, name, wasm);
  return { model, tagger: new Tagger(model, await stemsFor(model.text?.stem, stem)) };
}

/** The stemmer of a model's vocabulary. */
async function stemsFor(language: string | undefined, given: LoadOptions["stem"]): Promise<Stems | undefined> {
  if (language === undefined) return undefined;
  const stemmer = typeof given === "function" ? await given(language) : given;
  if (stemmer?.language === language && typeof stemmer.stemmer === "function") return new Stems(stemmer);
  const found = stemmer === undefined ? "none" : `that of ${String(stemmer.language)}`;
  throw new ArgumentError("stem", `found ${found}, expected the stemmer of ${language}, which this model needs`);
}

/** A loaded model in figures. */
export interface TaggerInfo {
  features: number;
  labels: number;
  /** Its parts, each with its family, its kernel and its sizes. */
  parts: readonly Readonly<Record<string, string | number>>[];
  /** A calibrator makes the probabilities. */
  calibrated: boolean;
  fromText: boolean;
  /** Size of the model file. */
  bytes: number;
  /** The way label scores are computed; both give the same numbers. */
  path: "wasm" | "plain";
}

/** Scores of one input, in arrays that the next one uses again. */
export interface RawScores {
  /** Scores of the first part [K]: mean utilities, or the scores of the Gaussian likelihood. */
  utilities: Float64Array;
  /** Variance of the utility of a label, where the model has one. */
  variance(label: number): number;
  /** Probability of a label. */
  probability(label: number): number;
  /** Labels that training has not seen, numbered behind the others, most probable first. */
  beyond: readonly RankedLabel[];
}

interface ScoredRow extends RowScores {
  readonly raw: RawRow;
  readonly parts: readonly LabelScores[];
}

/** A compact model, ready to predict. Made by `load`. */
export class Tagger {
  readonly info: TaggerInfo;
  #model: CompactModel | undefined;
  #input: InputReader;
  #mover: RowMover | undefined;
  /** Names of labels, decoded as they are met. */
  #names: string[] = [];
  /** The lists that were last asked for, and the labels they leave. */
  #lists: LabelLists = {};
  #allowed: Uint8Array | undefined;

  /** Use load(). */
  constructor(model: CompactModel, stems?: Stems) {
    const { features, labels, parts, probabilities, text, size: bytes, path, mover, labelCounts = [] } = model;
    this.#model = model;
    this.#mover = mover?.open(stems, text?.stem, this.labels, labelCounts);
    const own = mover ? [...parts, mover] : parts;
    this.#input = new InputReader(model, stems);
    this.info = {
      features,
      labels,
      parts: own.map(({ family, info }) => ({ family, ...info })),
      calibrated: probabilities.calibrated,
      fromText: text !== undefined,
      bytes,
      path,
    };
  }

  /** Labels that training has not seen and that are predicted by their names. */
  get unseen(): readonly string[] {
    return this.#mover?.unseen ?? [];
  }

  /** Names of all labels that training has seen. */
  get labels(): readonly string[] {
    return Array.from({ length: this.#alive().labels }, (_, label) => this.#name(label));
  }

  /** The best labels of an input, most probable first; or of each of many in a list, which is faster than one by one. */
  predict(input: Input, options?: PredictOptions): Predictions;
  predict(inputs: readonly Input[], options?: PredictOptions): Predictions[];
  predict(input: Input | readonly Input[], options: PredictOptions = {}): Predictions | Predictions[] {
    const list = listOfInputs(input) as readonly Input[] | undefined;
    return list ? this.predictMany(list, options) : this.predictMany([input as Input], options)[0];
  }

  /** The same for anything that can be gone through. */
  predictMany(inputs: Iterable<Input>, options: PredictOptions = {}): Predictions[] {
    checkPredictOptions(options);
    const { allow, deny } = options;
    const threshold = chosenThreshold(options, this.#alive().probabilities.thresholds);
    const topK = options.topK ?? (threshold === undefined ? 5 : Number.MAX_SAFE_INTEGER);
    if (allow !== this.#lists.allow || deny !== this.#lists.deny) {
      this.#allowed = allowedLabels([...this.labels, ...this.unseen], options);
      this.#lists = options;
    }
    const list = Array.isArray(inputs) ? (inputs as Input[]) : Array.from(inputs);
    const found: Predictions[] = [];
    for (let first = 0; first < list.length; first += GROUP)
      for (const row of this.#scored(list.slice(first, first + GROUP)))
        found.push(this.#predictions(row, this.#best(row, topK, threshold ?? 0), options));
    return found;
  }

  #best(row: ScoredRow, topK: number, threshold: Threshold): { found: RankedLabel[]; top: number } {
    const { labels, probabilities } = this.#alive();
    // Where each label has a threshold of its own, the best may not reach theirs.
    const most = typeof threshold === "number" ? topK : labels;
    const least = leastOf(threshold);
    const best = probabilities.thresholds ? row.best(EXPECTED_DEPTH, 0) : [];
    const enough = !this.#allowed && (most <= best.length || (best.at(-1)?.probability ?? 1) < least);
    const found = (enough ? best : row.best(most, least, this.#allowed))
      .filter(({ label, probability }) => reaches(threshold, label, probability))
      .slice(0, topK);
    return { found, top: best.reduce((sum, { probability }) => sum + probability, 0) };
  }

  #predictions(
    row: ScoredRow,
    { found, top }: { found: RankedLabel[]; top: number },
    { sd = true, explain, unseen }: PredictOptions,
  ): Predictions {
    const { parts, probabilities, labels: known } = this.#alive();
    const { calibrated, thresholds } = probabilities;
    const [{ variance }] = row.parts;
    const deviation = sd && !calibrated && parts[0].deviates && variance;
    const ids = found.map(({ label }) => label);
    const seen = ids.filter((label) => label < known);
    const count = wordsToExplain(explain);
    const words = count ? reasonsFor(parts[0], this.#input, row.raw, seen, count) : [];
    const { text } = row.raw;
    const reasons =
      count &&
      found.map(({ label, probability }) =>
        withName(text ? this.nameReason(text, label, probability) : undefined, words[seen.indexOf(label)]),
      );
    const labels = found.map(
      ({ label, probability }, i): Prediction => ({
        label: this.#name(label),
        probability,
        ...(deviation && { sd: Math.sqrt(deviation(label)) }),
        ...(reasons && { reasons: reasons[i] }),
      }),
    );
    const others = row.beyond
      ?.slice(0, unseen)
      .map(({ label, probability }) => ({ label: this.#name(label), probability }));
    return withAbout(labels, row.raw.coverage, {
      ...(thresholds && expectedOf(labels, top, thresholds)),
      ...(unseen && { unseen: others ?? [] }),
    });
  }

  /** The words of a text that a label of this probability is called by, where these have moved it. */
  nameReason(text: string, label: number, probability: number): Reason | undefined {
    return this.#mover?.reason(text, label, logitOf(probability));
  }

  #name(label: number): string {
    const { labels, labelName } = this.#alive();
    if (label >= labels) return this.unseen[label - labels];
    this.#names[label] ??= labelName(label);
    return this.#names[label];
  }

  /** Scores of every label; for evaluation. Features may come with the text that they were made of. */
  score(input: Input, text?: string): RawScores {
    const [{ parts, probability, beyond = [] }] = this.#scored([input], text);
    const [{ values, variance = () => 0 }] = parts;
    return { utilities: values, variance, probability, beyond };
  }

  /** Scores of at most GROUP inputs. */
  #scored(inputs: readonly Input[], given?: string): ScoredRow[] {
    const { parts, probabilities, mover: own } = this.#alive();
    const raws = inputs.map((input) => this.#input.read(input));
    const rows = raws.map((raw) => this.#input.transformed(raw));
    const scores: LabelScores[][] = rows.map(() => []);
    for (const part of parts)
      part.scores(rows, scores).forEach((found, i) => {
        scores[i].push(found);
      });
    const mover = this.#mover;
    return raws.map((raw, i) => {
      const { text = given } = raw;
      const move = mover && text ? own?.moved(mover, text) : undefined;
      return { ...probabilities.of(scores[i], move), raw, parts: scores[i] };
    });
  }

  /** Lets go of the model's memory. */
  dispose(): void {
    this.#model = undefined;
    this.#input = undefined as never;
    this.#names = [];
    this.#lists = {};
    this.#allowed = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #alive(): CompactModel {
    if (!this.#model) throw new ArgumentError("tagger", "it was disposed of; load the model again");
    return this.#model;
  }
}

/**
 * For each of the labels at most `count` words that speak for it, and as many against it, as predict/explain.ts says it: where the
 * first score is a sum over the features, what each of them adds; else how much lower the score is without the word.
 */
function reasonsFor(
  first: RowScorer,
  reader: InputReader,
  raw: RawRow,
  labels: readonly number[],
  count: number,
): Reason[][] {
  const names = Array.from(raw.columns, (column) => reader.nameOf(column));
  const written = reader.written(raw);
  const words = wordsOfRow(names, reader.readsText, written?.keys());
  const whole = reader.transformed(raw);
  const scores = (row: Row): Float64Array => (first.scoresOf as NonNullable<typeof first.scoresOf>)(row, labels);
  const shares = labels.map(() => new Float64Array(words.length));
  if (first.linear) {
    const weights = Array.from(whole.columns, (column) => scores({ columns: [column], values: [1] }));
    words.forEach(({ entries }, at) => {
      for (const entry of entries)
        shares.forEach((own, i) => {
          own[at] += whole.values[entry] * weights[entry][i];
        });
    });
  } else {
    const full = scores(whole);
    for (const at of weightiest(words, whole.values)) {
      const out = new Set(words[at].entries);
      const rest = scores(reader.transformed(raw, (entry) => !out.has(entry)));
      shares.forEach((own, i) => {
        own[at] = full[i] - rest[i];
      });
    }
  }
  return shares.map((own) =>
    reasonsOf(words, own, count).map(({ word, share }) => ({
      word: written ? asWritten(word, written) : word,
      share,
    })),
  );
}
