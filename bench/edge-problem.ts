// A tagger of the size that people ship, with made-up parameters, and texts to ask it.

import { type TfidfState, TfidfVectoriser } from "../src/data/tfidf.ts";
import type { Model } from "../src/model/model.ts";
import type { SvgpPart } from "../src/parts/svgp/shape.ts";
import type { Collapsed } from "./onnx.ts";
import { randomMatrix, textLikeCsr } from "./problems.ts";

export const taggerSizes = { features: 17_000, labels: 4000, factors: 100 } as const;

const DOCUMENTS = 50_000;
const WORDS_A_TEXT = 40;
const INDUCING = 200;

export interface EdgeProblem {
  model: Model;
  collapsed: Collapsed;
  texts: string[];
  /** The same texts as the tagger sees them. */
  rows: { indices: number[]; values: number[] }[];
}

/** Different words of a few letters, sorted as a vocabulary is. */
function vocabulary(count: number): string[] {
  const words = Array.from({ length: count }, (_, i) =>
    ((i * 7919 + 12_345) % 308_915_776).toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)]),
  );
  return [...new Set(words)].sort();
}

export function edgeProblem(texts: number): EdgeProblem {
  const { features: d, labels: k, factors: p } = taggerSizes;
  const terms = vocabulary(d);
  if (terms.length !== d) throw new Error(`the vocabulary: found ${terms.length} words, expected ${d}`);
  const state: TfidfState = {
    version: 1,
    options: {},
    documents: DOCUMENTS,
    terms,
    documentFrequency: terms.map((_, i) => 2 + ((i * 31) % 400)),
  };
  const weights = randomMatrix(d, p, 1);
  const phi = randomMatrix(k, p, 2);
  const bias = randomMatrix(1, k, 3).map((value) => value - 5);
  const part: SvgpPart = {
    family: "svgp",
    kernel: "linear",
    posterior: "shared",
    mean: "features",
    factors: p,
    inducingPoints: INDUCING,
    inducingInputs: randomMatrix(d, INDUCING, 4).map((value) => value / 50),
    mu: weights,
    sigma: new Float32Array(INDUCING).fill(1),
    phi,
    bias,
    hyper: new Float32Array(3),
  };
  const model: Model = {
    schema: {
      features: d,
      labels: k,
      points: DOCUMENTS,
      transform: { normalise: false },
      labelCounts: new Int32Array(k).fill(10),
      labelNames: Array.from({ length: k }, (_, i) => `label ${i}`),
      vectoriser: state,
    },
    parts: [part],
    summary: {
      options: {},
      droppedPoints: 0,
      steps: 1,
      epochs: 1,
      dataTerm: 0,
      divergence: 0,
      raisedFactorisations: 0,
    },
  };
  const { rowStart, columnIndex, values } = textLikeCsr(texts, d, WORDS_A_TEXT);
  const asked = Array.from({ length: texts }, (_, row) => {
    const words: string[] = [];
    const least = Math.min(...values.subarray(rowStart[row], rowStart[row + 1]));
    for (let e = rowStart[row]; e < rowStart[row + 1]; e++)
      for (let times = Math.round(values[e] / least); times > 0; times--) words.push(terms[columnIndex[e]]);
    return words.join(" ");
  });
  const seen = TfidfVectoriser.fromJSON(state).transform(asked);
  const rows = asked.map((_, row) => {
    const [from, to] = [seen.rowStart[row], seen.rowStart[row + 1]];
    return {
      indices: Array.from(seen.columnIndex.subarray(from, to)),
      values: Array.from(seen.values.subarray(from, to)),
    };
  });
  return { model, collapsed: { features: d, factors: p, labels: k, weights, phi, bias }, texts: asked, rows };
}
