// Altered data files of every format, as strangers could send them, and what must be so of each.

import { DataError } from "../../src/base/errors.ts";
import { checkDataset, compactColumns } from "../../src/data/dataset.ts";
import type { ReadOptions } from "../../src/data/options.ts";
import { readDataset } from "../../src/data/reader.ts";
import { watchAllocations } from "../support/allocations.ts";
import { generator } from "../support/numbers.ts";
import { processorTime } from "../support/processor.ts";
import * as numpy from "./formats/numpyfiles.ts";
import * as parquet from "./formats/parquetfiles.ts";
import { gzip } from "./support.ts";

/** What a reader may ask for at once, and in all, besides a few times the file: its buffers. */
const BUFFERS = 1 << 20;
const ALL_BUFFERS = 1 << 23;
/** Milliseconds of processor time that reading a small file may take. */
const PATIENCE = 5000;

const encoder = new TextEncoder();
const lines = (...each: string[]): Uint8Array => encoder.encode(each.join("\n"));
const json = (row: object): string => JSON.stringify(row);

/** Files of a format, how they are read, and how they are altered where changing a few places finds little. */
export interface Sample {
  readonly files: readonly Uint8Array[];
  readonly options?: ReadOptions;
  /** They are the vectors of two texts. */
  readonly asVectors?: true;
  strange?(next: () => number): Promise<Uint8Array>;
}

const texts = { tfidf: { minDocuments: 1, wordNgrams: 2 } } as const;
export const SAMPLES: Readonly<Record<string, Sample>> = {
  xc: { files: [lines("3 9 4", "0,3 1:0.5 8:1", " 2:-3e-2", "1", "")] },
  svmlight: { files: [lines("0,3 1:0.5 8:1 # note", "2 7:1", "")], options: { format: "svmlight" } },
  "jsonl of texts": {
    files: [
      lines(json({ id: 1, text: "Red wine's café 日本", labels: ["a", "b"] }), json({ text: "ΟΔΟΣ", labels: "a|c" })),
    ],
    options: texts,
  },
  "jsonl of features": {
    files: [
      lines(json({ features: { x: 1, y: -2 }, labels: [0] }), json({ features: { y: 3 }, labels: [] })),
      lines(
        json({ features: [[3, 1.5]], labels: [2] }),
        json({ features: { indices: [1], values: [2] }, labels: [0] }),
      ),
      lines(json({ features: [0, 1, 2], label: "p" }), json({ features: [4, 0, 0], label: "q" })),
    ],
  },
  json: {
    files: [
      lines("[", `${json({ features: [1, 0], labels: ["a"] })},`, json({ features: [0, 2], labels: ["b"] }), "]"),
    ],
  },
  "csv of texts": {
    files: [lines("sep=,", "id,text,labels,is_x", '1,"Red, ""dry""\nwine","a;b",1', "2,white,b,0", "")],
    options: { ...texts, oneHot: "is_*", labels: "labels" },
  },
  "csv of numbers": { files: [lines("x;labels;y", "1.5;a|b;", ".25;c;-3e2", "")] },
  annif: { files: [lines("Red wine\t<http://a/1> <http://a/2>", "white\t<http://a/2>", "")], options: texts },
  "npy of vectors": { files: [numpy.plain, numpy.fortran], options: texts, asVectors: true, strange: strangeArray },
};

/** Parquet has its reader in a thread of its own, which pages do not have: it is not one of those above. */
export const PARQUET: Sample = {
  files: [parquet.table, parquet.packed],
  options: { ...texts, requireLabels: false, ignore: ["b", "d", "id"] },
  strange: strangeTable,
};

const SHAPES = ["()", "(3,)", "(2, 3)", "(3, 0)", "(0, 3)", "(2, 1099511627776)", "(2000000000,)", "(2000000000, 0)"];
const TYPES = ["<f4", "<f8", "|b1", "<i8", "|S0", "<U0", "|S1", "<U2", "<U999999999"];

/** A megabyte of zeros, which packs well. */
const ZEROS = numpy.npy("<f4", "(2, 125000)", new Uint8Array(1e6));

/** Functions that choose with numbers from [0, 1). */
const choices = (next: () => number) => {
  const below = (n: number): number => Math.floor(next() * n);
  const one = <T>(list: readonly T[]): T => list[below(list.length)];
  return { below, one };
};

/** An array that claims anything. */
async function strangeArray(next: () => number): Promise<Uint8Array> {
  const { below, one } = choices(next);
  const elements = new Uint8Array(one([0, 0, 4, 12, 24, 48])).map(() => (next() < 0.7 ? 0 : below(256)));
  return one([
    () => numpy.npy("<f4", "(2, 3)", new Uint8Array(24)),
    () => ZEROS,
    () => numpy.npy(one(TYPES), one(SHAPES), elements),
    () => numpy.npy(one(TYPES), one(SHAPES.slice(-2))),
  ])();
}

/** A table with a few bytes changed and none moved, so that its parts are found: sizes, counts, types and ways of packing. */
async function strangeTable(next: () => number): Promise<Uint8Array> {
  const { below, one } = choices(next);
  const bytes = one([parquet.table, parquet.packed]).slice();
  for (let times = 1 + below(3); times > 0; times--) {
    const at = below(bytes.length);
    bytes[at] = one([bytes[at] ^ (1 << below(8)), bytes[at] + 2, 0, 0x7f, 0x80, 0xff, below(256)]);
  }
  return bytes;
}

const PIECES: readonly (string | number[])[] = [
  ..."\",:;|[]{}\t\n\r -+.#<>\\'*".split(""),
  ...["-1", "0", "1e39", "1e-400", "268435455", "16777216", "99999999999999999999", "NaN", "null", "true"],
  ...['"a":', "\\u0000", "\\ud800", "labels", "text", "sep=;", "\n\n\n", "\u2028", "3 9 4\n"],
  ...[[0], [0xff], [0xc3], [0xff, 0xfe], [0xef, 0xbb, 0xbf], [0x1f, 0x8b]],
];

/** The file with one or a few places changed. */
function altered(file: Uint8Array, next: () => number): Uint8Array {
  const { below } = choices(next);
  let bytes = Array.from(file);
  for (let times = 1 + below(4); times > 0; times--) {
    const at = below(bytes.length + 1);
    const piece = PIECES[below(PIECES.length)] as string | number[];
    const inserted = typeof piece === "string" ? Array.from(encoder.encode(piece)) : piece;
    const changes = [
      () => bytes.splice(at, 0, ...inserted),
      () => bytes.splice(at, inserted.length, ...inserted),
      () => bytes.splice(at, 1 + below(12)),
      () => bytes.splice(below(bytes.length + 1), 0, ...bytes.slice(at, at + below(40))),
      () => bytes.splice(at, 1, below(256)),
      () => {
        bytes = bytes.slice(0, at);
      },
    ];
    (changes[below(next() < 0.9 ? 5 : 6)] as () => void)();
  }
  return Uint8Array.from(bytes);
}

const TEXTS = [
  { text: "red wine", labels: ["a"] },
  { text: "white wine", labels: ["b"] },
];

/** "read", or the sentence it was refused with. */
export async function outcome(bytes: Uint8Array, { options, asVectors }: Omit<Sample, "files">): Promise<string> {
  try {
    const settings = { file: "small", ...options };
    const { dataset } = asVectors
      ? await readDataset(TEXTS, { ...settings, vectorsFrom: async () => bytes })
      : await readDataset(bytes, settings);
    checkDataset(dataset);
    checkDataset(compactColumns(dataset));
    return "read";
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    if (!/^(?:small|the vectors)[^\n\r]*: found [^\n\r]+, expected [^\n\r]+$/.test(error.message))
      throw new Error(`said ${error.message}`);
    return error.message;
  }
}

/** What came of one altered file. */
export interface DataTrial {
  readonly bytes: number;
  readonly refused: boolean;
  /** The greatest array that was made for it. */
  readonly allocated: number;
}

/** Reads the altered file of a seed; throws what must never be. */
export async function tryData({ files, options, asVectors, strange }: Sample, seed: number): Promise<DataTrial> {
  const next = generator(seed);
  const plain = strange && next() < 0.5 ? await strange(next) : altered(files[seed % files.length], next);
  const bytes = next() < 0.05 ? await gzip(plain) : plain;
  const lenient = next() < 0.5;
  const watch = watchAllocations();
  const began = processorTime();
  const found = await outcome(bytes, { options: { ...options, lenient }, asVectors }).finally(() => watch.stop());
  if (watch.greatest > 64 * plain.length + BUFFERS)
    throw new Error(`allocated ${watch.greatest} bytes for ${plain.length}`);
  if (watch.total > 512 * plain.length + ALL_BUFFERS)
    throw new Error(`allocated ${watch.total} bytes in all for ${plain.length}`);
  const taken = processorTime() - began;
  if (taken > PATIENCE) throw new Error(`took ${taken} ms`);
  return { bytes: plain.length, refused: found !== "read", allocated: watch.greatest };
}
