// Inputs as the rows a compact model wants: terms weighed as in training, columns weighted, rows scaled. Single precision where training
// has it, so that the numbers are the same.

import { areFinite } from "../base/check.ts";
import { ArgumentError } from "../base/errors.ts";
import { type Input, plainInput, plainVectors, type Refuse, rowMaker, vectorRow } from "../base/input.ts";
import { vectorName } from "../base/reasons.ts";
import { scaleRow } from "../base/sparse.ts";
import type { Stems } from "../base/stem.ts";
import { inverseFrequency, TermScanner, TextRows, unknownWeight, writtenWords } from "../base/terms.ts";
import type { Row } from "../parts/row.ts";
import type { CompactModel } from "./read.ts";

/** A row as it was read, before it is weighted and scaled. */
export interface RawRow {
  readonly columns: Int32Array;
  readonly values: Float32Array;
  /** The part of the words or features that the model knows. */
  readonly coverage: number;
  /** Scaled to length 1 whatever the model does. */
  readonly toLength1?: boolean | undefined;
  /** The text it was made of, if that. */
  readonly text?: string;
}

const refuse: Refuse = (found, expected) => {
  throw new ArgumentError("input", `found ${found}, expected ${expected}`);
};

export class InputReader {
  readonly model: CompactModel;
  readonly #stems: Stems | undefined;
  readonly #rowOf: ReturnType<typeof rowMaker>;
  #texts: { readonly rows: TextRows; readonly scanner: TermScanner } | undefined;
  /** The place of each feature in the vocabulary, where that is not its number. */
  #places: Int32Array | undefined;

  constructor(model: CompactModel, stems: Stems | undefined) {
    this.model = model;
    this.#stems = stems;
    const find = model.vocabulary && ((name: string) => this.#column(name));
    this.#rowOf = rowMaker({ columns: model.features, ids: model.columnIds, find });
  }

  read(input: Input): RawRow {
    const plain = plainInput(input, refuse, this.model.text !== undefined);
    if (typeof plain === "string") return this.#fromText(plain, plainVectors(input, refuse));
    // Words by name stand for a text of which all is known, whatever they are counted in.
    return { ...this.#rowOf(plain, refuse), toLength1: "names" in plain && this.model.text?.normalise };
  }

  #fromText(text: string, vectors: ReturnType<typeof plainVectors>): RawRow {
    const { text: rules, frequency } = this.model;
    if (!rules || !frequency) return refuse("a text", "features: this model was not trained on texts");
    this.#texts ??= {
      rows: new TextRows({
        rules,
        unknownWeight: unknownWeight(rules, rules.documents, frequency),
        idf: (column) => inverseFrequency(rules, rules.documents, frequency[column]),
      }),
      scanner: new TermScanner(rules, (term) => this.#column(term), this.#stems),
    };
    const { rows, scanner } = this.#texts;
    scanner.scan(text, (column, field, counts) => rows.add(column, field, counts));
    return { ...this.#beside(rows.end(), vectors), text };
  }

  /** The row of a text with its vectors behind the words. */
  #beside<R extends RawRow>(row: R, vectors: ReturnType<typeof plainVectors>): R {
    const { views = [] } = this.model;
    const numbers = vectorRow(
      views.map(({ name, from, to }) => ({ name, length: to - from })),
      vectors,
      refuse,
    );
    if (numbers.length === 0) return row;
    const places = Int32Array.from(numbers.keys()).filter((i) => numbers[i] !== 0);
    return {
      ...row,
      columns: Int32Array.of(...row.columns, ...places.map((i) => views[0].from + i)),
      values: Float32Array.of(...row.values, ...Float32Array.from(places, (i) => numbers[i])),
    };
  }

  /** The column of a term or of a feature's name, or -1. */
  #column(name: string): number {
    const { vocabulary, order } = this.model;
    const position = vocabulary?.find(name) ?? -1;
    return position >= 0 && order ? order[position] : position;
  }

  /** Name of a feature: its term, its name, or its id. */
  nameOf(column: number): string {
    const { vocabulary, order, columnIds, views } = this.model;
    const view = views?.find(({ from, to }) => column >= from && column < to);
    if (view) return vectorName(view.name);
    if (!vocabulary) return String(columnIds?.[column] ?? column);
    if (!order) return vocabulary.name(column);
    this.#places ??= inverse(order);
    return vocabulary.name(this.#places[column]);
  }

  /** The words of a text by their stems, as it has them first; undefined where there is no text. */
  written({ text }: RawRow): ReadonlyMap<string, string> | undefined {
    return text === undefined ? undefined : writtenWords(text, this.#stems);
  }

  /** The row weighted and scaled, as training did; of its entries those that are kept. */
  transformed(raw: RawRow, kept?: (entry: number) => boolean): Row & { values: Float32Array } {
    const { normalise, columnWeights, views } = this.model;
    const columns = kept ? raw.columns.filter((_, entry) => kept(entry)) : raw.columns;
    const values = kept ? raw.values.filter((_, entry) => kept(entry)) : raw.values.slice();
    const scaling = { columnWeights, normalise: normalise || raw.toLength1 === true, views };
    scaleRow(columns, values, 0, values.length, scaling);
    if (!areFinite(values)) refuse("values too large to compute with", "smaller ones");
    return { columns, values };
  }
}

/** The position of each number. */
function inverse(order: Int32Array): Int32Array {
  const places = new Int32Array(order.length);
  order.forEach((number, position) => {
    places[number] = position;
  });
  return places;
}
