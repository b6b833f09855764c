// Altered model files, as strangers could send them: what is altered, how each kind is read and tried, and what must be so.

import { wasmBackend } from "../../src/backend/wasm.ts";
import { ArgumentError, DataError, FormatError } from "../../src/base/errors.ts";
import type { Prediction } from "../../src/base/prediction.ts";
import { readSafetensors, writeSafetensors } from "../../src/base/safetensors.ts";
import { compactModel } from "../../src/compact/index.ts";
import { type Core, createCore } from "../../src/core/core.ts";
import { readDataset } from "../../src/data/reader.ts";
import { readCompact } from "../../src/edge/read.ts";
import { Tagger } from "../../src/edge/tagger.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import type { Model } from "../../src/model/model.ts";
import { type LearningState, stateFromBytes, stateToBytes } from "../../src/parts/regression/state.ts";
import { predictRows } from "../../src/predict/load.ts";
import { openPredictor, precisionOf } from "../../src/predict/open.ts";
import { train } from "../../src/train/train.ts";
import { watchAllocations } from "../support/allocations.ts";
import { generator } from "../support/numbers.ts";
import { altered } from "./alter.ts";
import { calibrated, closedModel, textModel, withLatent, withSchema } from "./support.ts";

const sizes = { features: 20, labels: 7, factors: 3, inducing: 4 };
const linear = textModel(sizes);
const squared = textModel({ ...sizes, kernel: "linear+se", groups: "perFactor" });
const throughInducing = textModel({ ...sizes, mean: "inducing" });
const named = withSchema(throughInducing, {
  vectoriser: undefined,
  featureNames: [...(throughInducing.schema.vectoriser?.terms ?? [])].reverse(),
  transform: { normalise: true, columnWeights: new Float32Array(20).fill(2) },
});
/** Most features without weights, so that only some have rows. */
const idle = withLatent(linear, { mu: linear.parts[0].mu.map((value, i) => (i < 51 ? 0 : value)) });
const closed = {
  exact: closedModel({ ...sizes, form: "gpr", points: 5, coupling: 2 }),
  linear: closedModel({ ...sizes, form: "linear" }),
  sum: closedModel({ ...sizes, form: "gpr", points: 5, kernel: "linear+matern32" }),
  both: closedModel({ ...sizes, form: "linear+svgp", coupling: 2 }),
  inducing: closedModel({ ...sizes, form: "sgpr", points: 5 }),
};

/** Bytes that reading takes whatever the file: the table of a vocabulary begins with so many. */
const ALWAYS = 2 ** 15;

/** Bytes of the core that an open model may take, besides so many times its file. */
const CORE_BYTES = 2 ** 18;

/** A file that does not state its checksum, which would refuse whatever is altered. */
function withoutChecksum(bytes: Uint8Array): Uint8Array {
  const { tensors, metadata } = readSafetensors(bytes);
  const { checksum: _, ...others } = metadata;
  return writeSafetensors({ tensors, metadata: others });
}

/** A kind of model file, and a way to try one. */
export interface Subject {
  readonly files: readonly Uint8Array[];
  /** Reads a file and predicts with it: the labels found. What is refused is thrown. */
  attempt(bytes: Uint8Array): Promise<readonly Prediction[]>;
  free(): void;
}

/** Files for mlgpf/edge, of every form, with calibrators and closed forms. */
export async function compactSubject(): Promise<Subject> {
  const words = linear.schema.vectoriser?.terms ?? [];
  const byName = Object.fromEntries(words.map((word) => [word, 1]));
  return {
    files: await Promise.all([
      compactModel(linear),
      compactModel(squared, { type: "f32", variance: "exact" }),
      compactModel(squared, { type: "int8" }),
      compactModel(idle, { type: "f32", variance: "none" }),
      compactModel(named, { type: "f16", variance: "low-rank", rank: 2 }),
      compactModel(calibrated(linear)),
      ...Object.values(closed).map((model) => compactModel(model)),
    ]),
    async attempt(bytes) {
      const model = await readCompact(bytes, "small");
      const tagger = new Tagger(model);
      const input = tagger.info.fromText ? words.join(" ") : model.vocabulary ? byName : { 0: 1 };
      return tagger.predict(input, { topK: 3 });
    },
    free() {},
  };
}

/** Files of full models, of every likelihood. */
export async function fullSubject(): Promise<Subject> {
  const models: Model[] = [linear, squared, named, calibrated(linear), ...Object.values(closed)];
  let core: Core = await createCore({ threads: 1 });
  return {
    files: models.map((model) => withoutChecksum(modelToBytes(model))),
    async attempt(bytes) {
      const model = modelFromBytes(bytes, "small");
      const { features: columns, labels } = model.schema;
      const before = core.arena.used;
      const predictor = openPredictor(core, wasmBackend(core, precisionOf(model)), model);
      try {
        const columnIndex = Int32Array.of(0, columns - 1).subarray(columns > 1 ? 0 : 1);
        const values = Float32Array.of(3, -4).subarray(0, columnIndex.length);
        const row = { rows: 1, columns, rowStart: Int32Array.of(0, values.length), columnIndex, values };
        const found = (await predictRows(predictor, row, { topK: Math.min(3, labels) }))[0] ?? [];
        const taken = core.arena.used - before;
        if (taken > 64 * bytes.length + CORE_BYTES)
          throw new Error(`took ${taken} bytes of the core for ${bytes.length}`);
        return found;
      } finally {
        predictor.free();
        // Remains of a failed opening are not this test's subject.
        if (core.arena.used > 2 ** 24) {
          core.dispose();
          core = await createCore({ threads: 1 });
        }
      }
    },
    free: () => core.dispose(),
  };
}

/** Files that a closed model goes on learning from; they predict nothing by themselves. */
export async function stateSubject(): Promise<Subject> {
  const rows = Array.from({ length: 12 }, (_, i) => ({
    id: `d${i}`,
    text: `word${i % 5} of ${i}`,
    labels: [`l${i % 3}`],
  }));
  const { dataset } = await readDataset(rows);
  const files: Uint8Array[] = [];
  const onState = (state: LearningState): void => void files.push(withoutChecksum(stateToBytes(state)));
  await train(dataset, { model: "gpr", threads: 1, onState });
  return {
    files,
    async attempt(bytes) {
      stateFromBytes(bytes, "small");
      return [];
    },
    free() {},
  };
}

/** What came of one altered file. */
export interface Trial {
  readonly bytes: number;
  /** Refused in a sentence, or the number of labels predicted. */
  readonly refused: boolean;
  readonly predicted: number;
  /** The greatest array that was made for it. */
  readonly allocated: number;
}

/** Tries the altered file of a seed; throws what must never be. */
export async function tryStranger({ files, attempt }: Subject, seed: number): Promise<Trial> {
  const next = generator(seed);
  const bytes = altered(files[Math.floor(next() * files.length)], next);
  const watch = watchAllocations();
  const found = await attempt(bytes)
    .catch((error: Error) => error)
    .finally(() => watch.stop());
  const trial = { bytes: bytes.length, allocated: watch.greatest };
  if (trial.allocated > 2 * bytes.length + ALWAYS)
    throw new Error(`allocated ${trial.allocated} bytes for ${bytes.length}`);
  if (found instanceof Error) {
    checkRefusal(found);
    return { ...trial, refused: true, predicted: 0 };
  }
  for (const { label, probability, sd = 0, score = 0 } of found)
    if (typeof label !== "string" || !(probability >= 0 && probability <= 1) || !(sd >= 0) || !Number.isFinite(score))
      throw new Error(`predicted ${label}, ${probability}, ${sd}, ${score}`);
  return { ...trial, refused: false, predicted: found.length };
}

function checkRefusal(error: Error): void {
  const known = error instanceof FormatError || error instanceof DataError || error instanceof ArgumentError;
  if (!known) throw new Error(`threw ${error.stack}`);
  if (!/^[^\n]+: found [^\n]+, expected [^\n]+$/.test(error.message)) throw new Error(`said ${error.message}`);
}
