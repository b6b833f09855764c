// A text model with made-up parameters, texts to try it on, and the module: the same in every runtime.

import { edgeModule } from "../../src/compact/module.ts";
import type { SparseRows } from "../../src/data/dataset.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { load, type Prediction, type Tagger } from "../../src/edge/index.ts";
import type { ClosedModel, LatentModel, ModelCommon } from "../../src/model/model.ts";
import { someCalibrator } from "../calibrate/calibrators.ts";
import { generator, randomNumbers } from "../support/numbers.ts";

const SYLLABLES = ["ba", "ko", "lin", "ter", "ma", "su", "vi", "ng", "é", "ß", "жук", "ört", "'s", "7"];

/** Different words, some of them not ASCII, in the order of their code units. */
export function words(count: number, seed: number): string[] {
  const next = generator(seed);
  const found = new Set<string>();
  while (found.size < count) {
    const parts = Array.from(
      { length: 2 + Math.floor(next() * 3) },
      () => SYLLABLES[Math.floor(next() * SYLLABLES.length)],
    );
    const word = parts.join("").replace(/^'s|'s(?=')/g, "");
    if (/^[^']+('[^']+)*$/.test(word)) found.add(word.normalize("NFKC"));
  }
  return [...found].sort();
}

export interface TextModelForm {
  kernel?: LatentModel["kernel"];
  groups?: "shared" | "perFactor";
  mean?: LatentModel["mean"];
  features?: number;
  labels?: number;
  factors?: number;
  inducing?: number;
  seed?: number;
}

export function textModel(form: TextModelForm = {}): LatentModel {
  const { kernel = "linear", mean = kernel === "linear" ? "features" : "inducing", seed = 1 } = form;
  const { features: d = 400, labels: k = 150, factors: p = 21, inducing: m = 17 } = form;
  const groups = form.groups === "perFactor" ? p : 1;
  const numbers = (count: number, of: number, scale: number): Float32Array =>
    Float32Array.from(randomNumbers(count, seed * 100 + of), (value) => scale * value);
  const terms = words(d, seed);
  const next = generator(seed + 7);
  const vectoriser = new TfidfVectoriser({
    options: { wordNgrams: 1 },
    documents: 1000,
    terms,
    documentFrequency: Int32Array.from(terms, () => 1 + Math.floor(next() * next() * 900)),
  });
  return {
    likelihood: "bernoulli",
    kernel,
    posterior: form.groups ?? "shared",
    mean,
    features: d,
    labels: k,
    factors: p,
    inducingPoints: m,
    inducingInputs: numbers(d * m, 1, 0.3),
    mu: numbers((mean === "features" ? d : m) * p, 2, 1),
    sigma: numbers(groups * m, 3, 0.4).map((value) => 0.6 + value),
    phi: numbers(k * p, 4, 1.2),
    bias: numbers(k, 5, 1).map((value) => value - 2),
    hyper: numbers(3, 6, 0.2),
    transform: { normalise: true },
    labelCounts: Int32Array.from({ length: k }, (_, label) => 1 + (label % 50)),
    labelNames: Array.from({ length: k }, (_, label) => `label ${label} é\u{1f98a}`),
    vectoriser: vectoriser.toJSON(),
    summary: {
      options: {},
      points: 1000,
      droppedPoints: 0,
      steps: 10,
      epochs: 1,
      dataTerm: -1,
      divergence: 1,
      raisedFactorisations: 0,
    },
  };
}

/** The same model with a made-up calibrator. */
export function calibrated(model: LatentModel, seed = 3): LatentModel {
  return { ...model, calibrator: someCalibrator(model.labels, seed, ["utility"]) };
}

export interface ClosedModelForm extends TextModelForm {
  /** "linear": scores linear in the features; "both": that with latent functions beside it. */
  form: "exact" | "inducing" | "linear" | "both";
  /** Points that carry the mean. */
  points?: number;
  /** Directions of the stack. */
  stack?: number;
}

/** A Gaussian model of made-up numbers. */
export function closedModel(given: ClosedModelForm): ClosedModel {
  const { form, kernel = "se", points = 30, stack: rank = 0, ...sizes } = given;
  const latent = textModel(sizes);
  const { features: d, labels: k, labelCounts, labelNames, vectoriser, transform, summary } = latent;
  const { seed = 1 } = given;
  const numbers = (count: number, of: number, scale: number): Float32Array =>
    Float32Array.from(randomNumbers(count, seed * 100 + of), (value) => scale * value);
  const columns = Int32Array.from({ length: d }, (_, i) => i).filter((i) => i % 3 > 0);
  const scores = ["gaussian", ...(rank > 0 ? ["stack"] : []), ...(form === "both" ? ["utility"] : [])];
  return {
    likelihood: form === "both" ? "both" : "gaussian",
    features: d,
    labels: k,
    labelCounts,
    ...(labelNames && { labelNames }),
    ...(vectoriser && { vectoriser }),
    transform,
    summary,
    labelMean: numbers(k, 11, 0.03).map(Math.abs),
    closed:
      form === "exact" || form === "inducing"
        ? {
            form,
            kernel,
            hyper: [0.7, 0.9, 1.1],
            noise: 0.2,
            rows: unitRows(points, d, seed),
            dual: numbers(points * k, 12, 0.4),
          }
        : {
            form: "linear",
            noise: 0.2,
            columns,
            weights: numbers(columns.length * k, 13, 0.3),
            evidence: { squares: numbers(columns.length, 16, 9).map(Math.abs), share: 0.7 },
          },
    ...(rank > 0 && {
      stack: { rank, vectors: numbers(k * rank, 14, 0.5), weights: numbers(rank * k, 15, 0.5) },
    }),
    ...(form === "both" && { latent }),
    calibrator: someCalibrator(k, seed, scores),
  };
}

/** Rows of length 1, of all numbers of features. */
function unitRows(rows: number, columns: number, seed: number): SparseRows {
  const next = generator(seed + 70);
  const rowStart = [0];
  const columnIndex: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rows; i++) {
    const share = next() * next();
    const chosen = [...Array(columns).keys()].filter((column) => column === i % columns || next() < share);
    const raw = chosen.map(() => 0.1 + next());
    const length = Math.hypot(...raw);
    columnIndex.push(...chosen);
    values.push(...raw.map((value) => value / length));
    rowStart.push(columnIndex.length);
  }
  return {
    rows,
    columns,
    rowStart: Int32Array.from(rowStart),
    columnIndex: Int32Array.from(columnIndex),
    values: Float32Array.from(values),
  };
}

/** Texts of known and unknown words, of many lengths; the first ones are empty, strange or long. */
export function sampleTexts(model: Pick<ModelCommon, "vectoriser">, count: number, seed: number): string[] {
  const next = generator(seed);
  const terms = model.vectoriser?.terms ?? [];
  const strange = ["", " \n", "?!", "unbekannt", "漢字かな交じり文", "\ud800 half a pair", "Ａ full ﬁ width"];
  return Array.from({ length: count }, (_, i) => {
    if (i < strange.length) return strange[i] as string;
    const length = i === strange.length ? 2000 : 1 + Math.floor(next() * 30);
    const chosen = Array.from({ length }, () =>
      next() < 0.1 ? "unknownword" : (terms[Math.floor(next() * terms.length)] as string),
    );
    return chosen.map((word) => (next() < 0.2 ? word.toUpperCase() : word)).join(next() < 0.5 ? " " : ", ");
  });
}

/** The model on both paths. */
export async function bothPaths(bytes: Uint8Array): Promise<[plain: Tagger, wasm: Tagger]> {
  return [await load(bytes), await load(bytes, { wasm: await edgeModule() })];
}

/** Labels and probabilities as one text: equal texts are equal to the last bit. */
export function written(predictions: Prediction[][]): string {
  return JSON.stringify(predictions);
}

/** SHA-256 in hexadecimal. */
export async function digest(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
