// A text model with made-up parameters, texts to try it on, and the module: the same in every runtime.

import type { SparseRows } from "../../src/base/sparse.ts";
import { edgeModule } from "../../src/compact/module.ts";
import { TfidfVectoriser } from "../../src/data/tfidf.ts";
import { load, type Prediction, type Tagger } from "../../src/edge/index.ts";
import type { Model } from "../../src/model/model.ts";
import type { Part } from "../../src/parts/index.ts";
import type { ModelSchema } from "../../src/parts/part.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
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
  kernel?: SvgpPart["kernel"];
  groups?: "shared" | "perFactor";
  mean?: SvgpPart["mean"];
  features?: number;
  labels?: number;
  factors?: number;
  inducing?: number;
  seed?: number;
}

/** A model of one part: latent functions. */
export interface TextModel extends Model {
  readonly parts: readonly [SvgpPart];
}

export function textModel(form: TextModelForm = {}): TextModel {
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
    schema: {
      features: d,
      labels: k,
      points: 1000,
      transform: { normalise: true },
      labelCounts: Int32Array.from({ length: k }, (_, label) => 1 + (label % 50)),
      labelNames: Array.from({ length: k }, (_, label) => `label ${label} é\u{1f98a}`),
      vectoriser: vectoriser.toJSON(),
    },
    parts: [
      {
        family: "svgp",
        kernel,
        posterior: form.groups ?? "shared",
        mean,
        factors: p,
        inducingPoints: m,
        inducingInputs: numbers(d * m, 1, 0.3),
        mu: numbers((mean === "features" ? d : m) * p, 2, 1),
        sigma: numbers(groups * m, 3, 0.4).map((value) => 0.6 + value),
        phi: numbers(k * p, 4, 1.2),
        bias: numbers(k, 5, 1).map((value) => value - 2),
        hyper: numbers(3, 6, 0.2),
      },
    ],
    summary: { options: {}, droppedPoints: 0 },
  };
}

/** The model with something of its schema changed. */
export const withSchema = <M extends Model>(model: M, changed: Partial<ModelSchema>): M => ({
  ...model,
  schema: { ...model.schema, ...changed },
});

/** The model with something of its latent functions changed. */
export const withLatent = (model: TextModel, changed: Partial<SvgpPart>): TextModel => ({
  ...model,
  parts: [{ ...model.parts[0], ...changed }],
});

type PartNamed<Name extends Part["family"]> = Extract<Part, { family: Name }>;

/** The part of a family. */
export function partOf<Name extends Part["family"]>({ parts }: Model, family: Name): PartNamed<Name> {
  const found = parts.find((part) => part.family === family);
  if (!found) throw new Error(`found no part ${family}, expected one`);
  return found as PartNamed<Name>;
}

/** The model with another part in place of that of its family. */
export const withPart = <M extends Model>(model: M, part: Part): M => ({
  ...model,
  parts: model.parts.map((each) => (each.family === part.family ? part : each)),
});

/** The same model with a made-up calibrator. */
export function calibrated(model: TextModel, seed = 3): TextModel {
  return { ...model, calibrator: someCalibrator(model.schema.labels, seed, ["utility"]) };
}

export interface ClosedModelForm extends TextModelForm {
  /** The parts before label coupling. */
  form: "gpr" | "sgpr" | "linear" | "linear+svgp";
  /** Points that carry the mean. */
  points?: number;
  /** Directions of the label coupling. */
  coupling?: number;
}

/** A Gaussian model of made-up numbers. */
export function closedModel(given: ClosedModelForm): Model {
  const { form, kernel = "se", points = 30, coupling: rank = 0, ...sizes } = given;
  const { schema, parts: latent, summary } = textModel(sizes);
  const { features: d, labels: k } = schema;
  const { seed = 1 } = given;
  const numbers = (count: number, of: number, scale: number): Float32Array =>
    Float32Array.from(randomNumbers(count, seed * 100 + of), (value) => scale * value);
  const columns = Int32Array.from({ length: d }, (_, i) => i).filter((i) => i % 3 > 0);
  const scores = ["gaussian", ...(rank > 0 ? ["stack"] : []), ...(form === "linear+svgp" ? ["utility"] : [])];
  const mean = numbers(k, 11, 0.03).map(Math.abs);
  const gaussian: Part =
    form === "gpr" || form === "sgpr"
      ? {
          family: form,
          kernel,
          hyper: [0.7, 0.9, 1.1],
          noise: 0.2,
          rows: unitRows(points, d, seed),
          dual: numbers(points * k, 12, 0.4),
          mean,
        }
      : {
          family: "linear",
          noise: 0.2,
          columns,
          weights: numbers(columns.length * k, 13, 0.3),
          mean,
          precision: { squares: numbers(columns.length, 16, 9).map(Math.abs), share: 0.7 },
        };
  const coupling: Part = {
    family: "coupling",
    rank,
    vectors: numbers(k * rank, 14, 0.5),
    weights: numbers(rank * k, 15, 0.5),
    mean,
  };
  return {
    schema,
    parts: [gaussian, ...(rank > 0 ? [coupling] : []), ...(form === "linear+svgp" ? latent : [])],
    calibrator: someCalibrator(k, seed, scores),
    summary,
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
export function sampleTexts({ schema }: Pick<Model, "schema">, count: number, seed: number): string[] {
  const next = generator(seed);
  const terms = schema.vectoriser?.terms ?? [];
  const strange = ["", " \n", "?!", "unbekannt", "漢字かな交じり文", "\ud800 half a pair", "Ａ full ﬁ width"];
  return Array.from({ length: count }, (_, i) => {
    if (i < strange.length) return strange[i];
    const length = i === strange.length ? 2000 : 1 + Math.floor(next() * 30);
    const chosen = Array.from({ length }, () =>
      next() < 0.1 ? "unknownword" : terms[Math.floor(next() * terms.length)],
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
