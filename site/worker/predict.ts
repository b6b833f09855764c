// The worker that holds a model and answers what is typed.

import type { LearningState } from "../../src/closed/state.ts";
import { readDataset, TfidfVectoriser } from "../../src/data/index.ts";
import { learn } from "../../src/learn/learn.ts";
import type { Prediction } from "../../src/metrics/prediction.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { isClosed, type TrainedModel } from "../../src/model/model.ts";
import { type LoadedModel, loadModel } from "../../src/predict/load.ts";
import {
  type Answer,
  inWords,
  type ModelInfo,
  type PredictorReply,
  type PredictorRequest,
  type WordShare,
  type WorkerScope,
} from "./messages.ts";
import { type TypedReader, typedReader } from "./typed.ts";

const scope = globalThis as unknown as WorkerScope<PredictorRequest, PredictorReply>;
const LABELS = 8;
const WORDS = 3;

interface Loaded {
  file: string;
  model: LoadedModel;
  reader: TypedReader;
  /** What it goes on learning from. */
  state: LearningState | undefined;
}

let loaded: Loaded | undefined;

/** For showing only: nothing that is saved depends on it. */
const sigmoid = (utility: number): number => 1 / (1 + Math.exp(-utility));

/** Takes the place of the model before; what is said of it. */
async function use(file: string, model: TrainedModel, state: LearningState | undefined): Promise<ModelInfo> {
  // One text at a time is too little work to share out.
  const next = await loadModel(model, { threads: 1 });
  loaded?.model.dispose();
  const reader = typedReader(model);
  loaded = { file, model: next, reader, state };
  const { features, labels, summary } = model;
  return {
    file,
    kernel: isClosed(model) ? model.likelihood : model.kernel,
    input: reader.input,
    example: reader.example,
    points: summary.points,
    features,
    labels,
    learns: state !== undefined,
  };
}

async function load(file: string, source: Blob, state: LearningState | undefined): Promise<void> {
  try {
    const bytes = new Uint8Array(await source.arrayBuffer());
    const info = await use(file, modelFromBytes(bytes, file), state);
    scope.postMessage({ kind: "loaded", info });
  } catch (error) {
    scope.postMessage({ kind: "refused", message: inWords(error) });
  }
}

/** Learns a text with its right labels; the same text again takes the place of its earlier version. */
async function learnText(text: string, labels: readonly string[]): Promise<void> {
  if (!loaded?.state || !loaded.model.model.vectoriser) return;
  const { file, model, state } = loaded;
  const before = await probabilities(model, text);
  const { dataset } = await readDataset([{ id: `typed: ${text}`, text, labels: [...labels] }], {
    vectoriser: TfidfVectoriser.fromJSON(model.model.vectoriser),
  });
  const learned = await learn(model.model, state, dataset);
  const info = await use(file, learned.model, learned.state);
  const after = await probabilities(loaded.model, text);
  const changes = labels.map((label) => ({
    label,
    before: before.get(label) ?? 0,
    after: after.get(label) ?? 0,
  }));
  const bytes = modelToBytes(learned.model);
  scope.postMessage({ kind: "learned", info, bytes, changes }, [bytes.buffer]);
}

/** Of every label. */
async function probabilities(model: LoadedModel, text: string): Promise<Map<string, number>> {
  const answers = await model.predict(text, { topK: model.model.labels });
  return new Map(answers.map(({ label, probability }) => [label, probability]));
}

/** The words that speak most for a label: those that come near the first. */
const weightiest = (shares: readonly WordShare[]): WordShare[] =>
  shares.filter(({ share }) => share > 0 && share >= (shares[0] as WordShare).share / 5);

/** What the model does not know, where it says so: one standard deviation less and more. */
function bandOf(
  model: TrainedModel,
  { probability, score, sd }: { probability: number; score: number; sd: number | undefined },
): Pick<Answer, "low" | "high"> {
  if (sd !== undefined && isClosed(model))
    return { low: Math.max(0, probability - sd), high: Math.min(1, probability + sd) };
  if (sd !== undefined && model.calibrator === undefined)
    return { low: sigmoid(score - sd), high: sigmoid(score + sd) };
  return { low: probability, high: probability };
}

async function predict(number: number, text: string): Promise<void> {
  if (!loaded) return;
  const { model, reader } = loaded;
  const { features, unknown } = reader.read(text);
  const [labels = []] = await model.predict(features, { topK: LABELS, explain: WORDS });
  const answerOf = ({ label, probability, score = 0, sd, reasons = [] }: Prediction): Answer => ({
    label: model.model.labelNames ? label : `label ${label}`,
    probability,
    ...bandOf(model.model, { probability, score, sd }),
    words: weightiest(reasons),
  });
  const answers = labels.map(answerOf);
  scope.postMessage({ kind: "predicted", number, answers, known: features.values.length, unknown });
}

// One after another, in the order they were asked for.
let last: Promise<void> = Promise.resolve();
scope.onmessage = ({ data }) => {
  last = last
    .then(() => {
      if (data.kind === "load") return load(data.file, data.source, data.state);
      return data.kind === "learn" ? learnText(data.text, data.labels) : predict(data.number, data.text);
    })
    .catch((error: unknown) => scope.postMessage({ kind: "failed", message: inWords(error) }));
};
