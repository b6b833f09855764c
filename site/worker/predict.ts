// The worker that holds a model and answers what is typed.

import type { Prediction } from "../../src/metrics/prediction.ts";
import { modelFromBytes } from "../../src/model/file.ts";
import { isClosed } from "../../src/model/model.ts";
import { type LoadedModel, loadModel } from "../../src/predict/load.ts";
import {
  type Answer,
  inWords,
  type PredictorReply,
  type PredictorRequest,
  type WordShare,
  type WorkerScope,
} from "./messages.ts";
import { type TypedReader, typedReader } from "./typed.ts";

const scope = globalThis as unknown as WorkerScope<PredictorRequest, PredictorReply>;
const LABELS = 8;
const WORDS = 3;

let loaded: { model: LoadedModel; reader: TypedReader } | undefined;

/** For showing only: nothing that is saved depends on it. */
const sigmoid = (utility: number): number => 1 / (1 + Math.exp(-utility));

async function load(file: string, source: Blob): Promise<void> {
  let next: LoadedModel;
  try {
    // One text at a time is too little work to share out.
    const bytes = new Uint8Array(await source.arrayBuffer());
    next = await loadModel(modelFromBytes(bytes, file), { threads: 1 });
  } catch (error) {
    scope.postMessage({ kind: "refused", message: inWords(error) });
    return;
  }
  loaded?.model.dispose();
  const reader = typedReader(next.model);
  loaded = { model: next, reader };
  const { features, labels, summary } = next.model;
  const kernel = isClosed(next.model) ? next.model.likelihood : next.model.kernel;
  scope.postMessage({
    kind: "loaded",
    info: {
      file,
      kernel,
      input: reader.input,
      example: reader.example,
      points: summary.points,
      features,
      labels,
    },
  });
}

/** The words that speak most for a label: those that come near the first. */
const weightiest = (shares: readonly WordShare[]): WordShare[] =>
  shares.filter(({ share }) => share > 0 && share >= (shares[0] as WordShare).share / 5);

async function predict(number: number, text: string): Promise<void> {
  if (!loaded) return;
  const { model, reader } = loaded;
  const { features, unknown } = reader.read(text);
  const [labels = []] = await model.predict(features, { topK: LABELS, explain: WORDS });
  const answerOf = ({ label, probability, score = 0, sd, reasons = [] }: Prediction): Answer => ({
    label: model.model.labelNames ? label : `label ${label}`,
    probability,
    low: sd === undefined ? probability : sigmoid(score - sd),
    high: sd === undefined ? probability : sigmoid(score + sd),
    words: weightiest(reasons),
  });
  const answers = labels.map(answerOf);
  scope.postMessage({ kind: "predicted", number, answers, known: features.values.length, unknown });
}

// One after another, in the order they were asked for.
let last: Promise<void> = Promise.resolve();
scope.onmessage = ({ data }) => {
  last = last
    .then(() => (data.kind === "load" ? load(data.file, data.source) : predict(data.number, data.text)))
    .catch((error: unknown) => scope.postMessage({ kind: "failed", message: inWords(error) }));
};
