// Altered data files of every format, as strangers could send them, and what must be so of each.

import { checkDataset } from "../../src/data/check.ts";
import { compactColumns } from "../../src/data/columns.ts";
import { DataError } from "../../src/data/errors.ts";
import type { ReadOptions } from "../../src/data/options.ts";
import { readDataset } from "../../src/data/reader.ts";
import { watchAllocations } from "../support/allocations.ts";
import { generator } from "../support/numbers.ts";
import * as numpy from "./formats/numpyfiles.ts";
import { gzip } from "./support.ts";

/** What a reader may ask for at once besides a few times the file: its buffers. */
const BUFFERS = 1 << 20;

const encoder = new TextEncoder();
const lines = (...each: string[]): Uint8Array => encoder.encode(each.join("\n"));
const json = (row: object): string => JSON.stringify(row);

/** Files of a format, and how they are read. */
export interface Sample {
  readonly files: readonly Uint8Array[];
  readonly options?: ReadOptions;
}

const texts = { tfidf: { minDocuments: 1, wordNgrams: 2 } } as const;
export const SAMPLES: Readonly<Record<string, Sample>> = {
  xc: { files: [lines("3 9 4", "0,3 1:0.5 8:1", " 2:-3e-2", "1", "")] },
  svmlight: { files: [lines("0,3 1:0.5 8:1 # note", "2 7:1", "")], options: { format: "svmlight" } },
  "jsonl of texts": {
    files: [
      lines(
        json({ id: 1, text: "Red wine's café 日本", labels: ["a", "b"] }),
        json({ text: "ΟΔΟΣ", labels: "a|c" }),
      ),
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
      lines(json({ features: [0, 1, 2], label: "p" }), json({ features: [4], label: "q" })),
    ],
  },
  json: {
    files: [
      lines(
        "[",
        `${json({ features: [1], labels: ["a"] })},`,
        json({ features: [0, 2], labels: ["b"] }),
        "]",
      ),
    ],
  },
  "csv of texts": {
    files: [lines("sep=,", "id,text,labels,is_x", '1,"Red, ""dry""\nwine","a;b",1', "2,white,b,0", "")],
    options: { ...texts, oneHot: "is_*", labels: "labels" },
  },
  "csv of numbers": { files: [lines("x;labels;y", "1.5;a|b;", ".25;c;-3e2", "")] },
  annif: { files: [lines("Red wine\t<http://a/1> <http://a/2>", "white\t<http://a/2>", "")], options: texts },
  numpy: {
    files: [numpy.pair, numpy.named, numpy.labelled, numpy.sparse, numpy.fortran],
    options: { requireLabels: false },
  },
};

const PIECES: readonly (string | number[])[] = [
  ..."\",:;|[]{}\t\n\r -+.#<>\\'*".split(""),
  ...["-1", "0", "1e39", "1e-400", "268435455", "16777216", "99999999999999999999", "NaN", "null", "true"],
  ...['"a":', "\\u0000", "\\ud800", "labels", "text", "sep=;", "\n\n\n", "\u2028", "3 9 4\n"],
  ...[[0], [0xff], [0xc3], [0xff, 0xfe], [0xef, 0xbb, 0xbf], [0x1f, 0x8b]],
];

/** The file with one or a few places changed. */
function altered(file: Uint8Array, next: () => number): Uint8Array {
  const below = (n: number): number => Math.floor(next() * n);
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

/** "read", or the sentence it was refused with. */
export async function outcome(bytes: Uint8Array, options: ReadOptions): Promise<string> {
  try {
    const { dataset } = await readDataset(bytes, { file: "small", ...options });
    checkDataset(dataset);
    checkDataset(compactColumns(dataset));
    return "read";
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    if (!/^small[^\n\r]*: found [^\n\r]+, expected [^\n\r]+$/.test(error.message))
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
export async function tryData({ files, options = {} }: Sample, seed: number): Promise<DataTrial> {
  const next = generator(seed);
  const plain = altered(files[seed % files.length] as Uint8Array, next);
  const bytes = next() < 0.05 ? await gzip(plain) : plain;
  const lenient = next() < 0.5;
  const watch = watchAllocations();
  const found = await outcome(bytes, { ...options, lenient }).finally(() => watch.stop());
  if (watch.greatest > 64 * plain.length + BUFFERS)
    throw new Error(`allocated ${watch.greatest} bytes for ${plain.length}`);
  return { bytes: plain.length, refused: found !== "read", allocated: watch.greatest };
}
