// What a caller gives (a text, features by name, or indices and values) as the row the model wants: terms weighed as in
// training, columns weighted, rows scaled. Single precision where training has it, so that the numbers are the same.

import { ArgumentError } from "../core/errors.ts";
import type { Stems } from "../data/stem.ts";
import {
  addCounts,
  FIELDS,
  forEachTerm,
  inverseFrequency,
  termWeights,
  unknownWeight,
  writtenWords,
} from "../data/terms.ts";
import type { Row } from "./matrix.ts";
import type { CompactModel } from "./read.ts";

/** Features by number, as they stood in the training data. */
export interface IndexedFeatures {
  indices: ArrayLike<number>;
  values: ArrayLike<number>;
}

/** A text; features by name or number; or features by number in two lists. */
export type Input = string | Readonly<Record<string, number>> | IndexedFeatures;

/** A row as it was read, before it is weighted and scaled. */
export interface RawRow {
  readonly columns: Int32Array;
  readonly values: Float32Array;
  /** The part of the words or features that the model knows. */
  readonly known: number;
  /** Scaled to length 1 whatever the model does. */
  readonly toLength1?: boolean | undefined;
  /** What it was made of, if that. */
  readonly text?: string;
}

const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

export class InputReader {
  readonly #model: CompactModel;
  readonly #stems: Stems | undefined;
  #unknownWeight: number | undefined;
  /** The place of each feature in the vocabulary, where that is not its number. */
  #places: Int32Array | undefined;

  constructor(model: CompactModel, stems: Stems | undefined) {
    this.#model = model;
    this.#stems = stems;
  }

  read(input: Input): RawRow {
    if (typeof input === "string") return this.#fromText(input);
    if (typeof input !== "object" || input === null)
      throw new ArgumentError(
        "input",
        `found ${input === null ? "null" : typeof input}, expected a text or features`,
      );
    const { indices, values } = input as Partial<IndexedFeatures>;
    if (typeof indices !== "object" || typeof values !== "object") {
      const names = Object.keys(input);
      const columns = names.map((name) => this.#feature(name));
      const given = names.map((name) => (input as Record<string, number>)[name] as number);
      // Words by name stand for a text of which all is known, whatever they are counted in.
      return this.#fromFeatures(columns, given, this.#model.about.text?.normalise);
    }
    if (indices.length !== values.length)
      throw new ArgumentError(
        "values",
        `found ${values.length}, expected ${indices.length}, one for each index`,
      );
    return this.#fromFeatures(
      Array.from(indices, (index) => this.#index(index)),
      values,
    );
  }

  /** Features by number; -1 for one that the model does not have. */
  #fromFeatures(columns: readonly number[], values: ArrayLike<number>, toLength1?: boolean): RawRow {
    const known = shareOf(columns.filter((column) => column >= 0).length, columns.length);
    return { ...sortedRow(columns, values), known, toLength1 };
  }

  #fromText(text: string): RawRow {
    const { about, vocabulary, order, frequency } = this.#model;
    const { text: rules } = about;
    if (!rules || !vocabulary || !frequency)
      throw new ArgumentError(
        "input",
        "found a text, expected features: this model was not trained on texts",
      );
    const found: number[] = []; // columns, each with its field
    const unknown = new Int32Array(FIELDS);
    let [words, known] = [0, 0];
    const visit = (term: string, field: number, counts: boolean): void => {
      const position = vocabulary.find(term);
      if (counts) words++;
      if (counts && position >= 0) known++;
      if (position < 0) unknown[field] = (unknown[field] as number) + 1;
      else found.push((order ? (order[position] as number) : position) * FIELDS + field);
    };
    forEachTerm(text, rules, visit, this.#stems);
    const columns: number[] = [];
    const fields: number[] = [];
    const counts: number[] = [];
    addCounts(found, (place, count) => {
      fields.push(place % FIELDS);
      columns.push((place - (place % FIELDS)) / FIELDS);
      counts.push(count);
    });
    this.#unknownWeight ??= unknownWeight(rules, rules.documents, frequency);
    const weights = termWeights(rules, {
      counts,
      field: (i) => fields[i] as number,
      idf: (i) => inverseFrequency(rules, rules.documents, frequency[columns[i] as number] as number),
      unknown,
      unknownWeight: this.#unknownWeight,
    });
    const values = Float32Array.from(weights);
    return { columns: Int32Array.from(columns), values, known: shareOf(known, words), text };
  }

  /** What a feature is called: its term, its name, or its id. */
  nameOf(column: number): string {
    const { vocabulary, order, columnIds } = this.#model;
    if (!vocabulary) return String(columnIds?.[column] ?? column);
    if (!order) return vocabulary.name(column);
    this.#places ??= inverse(order);
    return vocabulary.name(this.#places[column] as number);
  }

  /** The words of a text by their stems, as it has them first; undefined where there is no text. */
  written({ text }: RawRow): ReadonlyMap<string, string> | undefined {
    return text === undefined ? undefined : writtenWords(text, this.#stems);
  }

  /** A feature by its name, or by its number. */
  #feature(name: string): number {
    const { vocabulary, order } = this.#model;
    const position = vocabulary?.find(name) ?? -1;
    if (position >= 0) return order ? (order[position] as number) : position;
    if (/^(0|[1-9]\d*)$/.test(name)) return this.#index(Number(name));
    if (vocabulary) return -1; // a word nobody knew at training time
    throw new ArgumentError(
      "input",
      `found feature ${JSON.stringify(name)}, expected a number: this model has no names`,
    );
  }

  /** The number of a feature; -1 for an id that nobody knew at training time. */
  #index(index: unknown): number {
    const { about, columnIds } = this.#model;
    const most = columnIds ? 2 ** 31 : about.features;
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= most)
      throw new ArgumentError(
        "input",
        `found feature ${index}, expected a whole number from 0 to ${most - 1}`,
      );
    return columnIds ? placeOf(index as number, columnIds) : (index as number);
  }

  /** The row weighted and scaled, as training did; of its entries those that are kept. */
  transformed(raw: RawRow, kept?: (entry: number) => boolean): Row & { values: Float32Array } {
    const { about, columnWeights } = this.#model;
    const columns = kept ? raw.columns.filter((_, entry) => kept(entry)) : raw.columns;
    const values = kept ? raw.values.filter((_, entry) => kept(entry)) : raw.values.slice();
    let squares = 0;
    for (let e = 0; e < values.length; e++) {
      const value = (values[e] as number) * (columnWeights?.[columns[e] as number] ?? 1);
      values[e] = value;
      if (!Number.isFinite(values[e] as number))
        throw new ArgumentError("input", "found values too large to compute with, expected smaller ones");
      squares += value * value;
    }
    const factor = (about.normalise || raw.toLength1) && squares > 0 ? 1 / Math.sqrt(squares) : 1;
    for (let e = 0; e < values.length; e++) values[e] = (values[e] as number) * factor;
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

/** Where a number is among rising ones, or -1. */
function placeOf(wanted: number, rising: Int32Array): number {
  let [low, high] = [0, rising.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return rising[low] === wanted ? low : -1;
}

/** Sorted by column; unknown features and zeros are left out. */
function sortedRow(
  columns: ArrayLike<number>,
  values: ArrayLike<number>,
): { columns: Int32Array; values: Float32Array } {
  const [sorted, kept] = [new Int32Array(columns.length), new Float32Array(columns.length)];
  let count = 0;
  let rising = true;
  for (let i = 0; i < columns.length; i++) {
    const [column, value] = [columns[i] as number, values[i] as number];
    kept[count] = value;
    if (!Number.isFinite(kept[count] as number))
      throw new ArgumentError("input", `found the value ${value} of a feature, expected a finite number`);
    if (column < 0 || value === 0) continue;
    if (count > 0 && column <= (sorted[count - 1] as number)) rising = false;
    sorted[count++] = column;
  }
  const row = { columns: sorted.subarray(0, count), values: kept.subarray(0, count) };
  return rising ? row : inOrder(row.columns, row.values);
}

function inOrder(columns: Int32Array, values: Float32Array): { columns: Int32Array; values: Float32Array } {
  const order = Array.from(columns, (_, i) => i).sort(
    (a, b) => (columns[a] as number) - (columns[b] as number),
  );
  const sorted = Int32Array.from(order, (i) => columns[i] as number);
  for (let i = 1; i < sorted.length; i++)
    if (sorted[i] === sorted[i - 1])
      throw new ArgumentError("input", `found feature ${sorted[i]} twice, expected each once`);
  return { columns: sorted, values: Float32Array.from(order, (i) => values[i] as number) };
}
