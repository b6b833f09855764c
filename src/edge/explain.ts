// Why a label came, as the full model says it (src/predict/explain.ts): where the score is a sum over the features, what each of them
// adds; else how much lower the score is without the word. Scores are computed for the labels that came alone.

import type { Reason } from "../metrics/prediction.ts";
import { asWritten, reasonsOf, type Word, weightiest, wordsOfRow } from "../metrics/reasons.ts";
import { isLinear } from "../model/kernels/index.ts";
import type { ClosedForm } from "./closed.ts";
import type { InputReader, RawRow } from "./input.ts";
import type { Latent } from "./latent.ts";
import type { Row } from "./matrix.ts";
import { labelWeights } from "./parts.ts";
import type { CompactModel } from "./read.ts";
import type { SparseMatrix } from "./sparse.ts";

/** Scores of some labels, or what of them words can move. */
type Scores = (row: Row, labels: readonly number[]) => Float64Array;
/** Shares of the words of a row in the scores of some labels, one list for each label. */
type Shares = (raw: RawRow, words: readonly Word[], labels: readonly number[]) => Float64Array[];

export class Explainer {
  readonly #model: CompactModel;
  readonly #reader: InputReader;
  readonly #shares: Shares;

  constructor(
    model: CompactModel,
    reader: InputReader,
    { closed, latent }: { closed: ClosedForm | undefined; latent: Latent | undefined },
  ) {
    this.#model = model;
    this.#reader = reader;
    const { kernel } = model.about;
    if (closed)
      this.#shares =
        model.closed?.weights && !model.closed.points
          ? this.#closedSums(model.closed.weights)
          : this.#leftOut((row, labels) => closed.scoresOf(row, labels));
    else {
      const scores: Scores = (row, labels) => this.#products(latent as Latent, row, labels);
      this.#shares = isLinear(kernel) ? this.#latentSums(scores) : this.#leftOut(scores);
    }
  }

  /** For each of the labels at most `count` words that speak for it, and as many against it. */
  reasons(raw: RawRow, labels: readonly number[], count: number): Reason[][] {
    const { about } = this.#model;
    const names = Array.from(raw.columns, (column) => this.#reader.nameOf(column));
    const written = this.#reader.written(raw);
    const words = wordsOfRow(names, about.text !== undefined, written?.keys());
    return this.#shares(raw, words, labels).map((shares) =>
      reasonsOf(words, shares, count).map(({ word, share }) => ({
        word: written ? asWritten(word, written) : word,
        share,
      })),
    );
  }

  /** x_d W_dk of a closed form. */
  #closedSums(weights: SparseMatrix): Shares {
    return (raw, words, labels) => {
      const { columns, values } = this.#reader.transformed(raw);
      return labels.map((label) =>
        perWord(
          words,
          (entry) => (values[entry] as number) * weights.element(columns[entry] as number, label),
        ),
      );
    };
  }

  /** x_d w_d . phi_k of latent functions; w_d is what a text of that feature alone, of length 1, makes of them. */
  #latentSums(scores: Scores): Shares {
    return (raw, words, labels) => {
      const { columns, values } = this.#reader.transformed(raw);
      const weights = Array.from(columns, (column) => scores({ columns: [column], values: [1] }, labels));
      return labels.map((_, i) =>
        perWord(words, (entry) => (values[entry] as number) * (weights[entry]?.[i] as number)),
      );
    };
  }

  /** mean . phi_k, the utility without the bias, which no word moves. */
  #products(latent: Latent, row: Row, labels: readonly number[]): Float64Array {
    const point = latent.point();
    latent.compute(row, point);
    const phi = this.#model.latent?.phi as NonNullable<CompactModel["latent"]>["phi"];
    return Float64Array.from(labels, (label) => {
      let product = 0;
      labelWeights(phi, label, point.mean.length).forEach((weight, p) => {
        product += weight * (point.mean[p] as number);
      });
      return product;
    });
  }

  /** What is missing of a score without the word. */
  #leftOut(scores: Scores): Shares {
    return (raw, words, labels) => {
      const whole = this.#reader.transformed(raw);
      const full = scores(whole, labels);
      const shares = labels.map(() => new Float64Array(words.length));
      for (const at of weightiest(words, whole.values)) {
        const out = new Set((words[at] as Word).entries);
        const rest = scores(
          this.#reader.transformed(raw, (entry) => !out.has(entry)),
          labels,
        );
        shares.forEach((own, i) => {
          own[at] = (full[i] as number) - (rest[i] as number);
        });
      }
      return shares;
    };
  }
}

/** The sum over the entries of each word. */
function perWord(words: readonly Word[], shareOf: (entry: number) => number): Float64Array {
  return Float64Array.from(words, ({ entries }) => entries.reduce((sum, entry) => sum + shareOf(entry), 0));
}
