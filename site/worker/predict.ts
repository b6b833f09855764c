// The worker that holds a model: it answers what is typed, learns, labels files and makes compact models.

import type { Prediction } from "../../src/base/prediction.ts";
import { readDataset, TfidfVectoriser } from "../../src/data/index.ts";
import { learn } from "../../src/learn/learn.ts";
import { modelToBytes } from "../../src/model/file.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";
import { explainRows } from "../../src/predict/explain.ts";
import { modelRows } from "../../src/predict/input.ts";
import { predictRows } from "../../src/predict/load.ts";
import { missingColumn } from "./columns.ts";
import { labelFile } from "./label.ts";
import {
  type Answer,
  inWords,
  type LabelSettings,
  type ModelInfo,
  type PredictorReply,
  type PredictorRequest,
  type WordShare,
  type WorkerScope,
} from "./messages.ts";
import { type Opened, openBytes, openFull } from "./opened.ts";
import { unpackState } from "./packed.ts";
import { type TypedReader, typedReader } from "./typed.ts";

const scope = globalThis as unknown as WorkerScope<PredictorRequest, PredictorReply>;
const LABELS = 8;
const WORDS = 3;
/** A lesson counts as one row in so many: among 40,000 rows a single one would not be seen. */
const LESSON = 2000;

interface Loaded extends Opened {
  file: string;
  reader: TypedReader;
  /** The state that it goes on learning from. */
  state: LearningState | undefined;
}

let loaded: Loaded | undefined;
/** Ends the labelling that is under way. */
let labelling = new AbortController();

/** Takes the place of the model before; what is said of it. */
function use(file: string, opened: Opened, state: LearningState | undefined): ModelInfo {
  labelling.abort();
  loaded?.free();
  const { model, full } = opened;
  const reader = typedReader(model.schema);
  loaded = { ...opened, file, reader, state };
  return {
    file,
    compact: full === undefined,
    input: reader.input,
    guarantees: model.thresholds?.guarantees,
    example: reader.example,
    points: full?.schema.points ?? 0,
    features: model.schema.features,
    labels: model.schema.labels,
    learns: state !== undefined,
  };
}

async function load(file: string, source: Blob, state: LearningState | undefined): Promise<void> {
  try {
    const bytes = new Uint8Array(await source.arrayBuffer());
    scope.postMessage({ kind: "loaded", info: use(file, await openBytes(bytes, file), state) });
  } catch (error) {
    scope.postMessage({ kind: "refused", message: inWords(error) });
  }
}

/** The state that lessons need comes after the model, which answers without it. */
async function takeState(file: string, source: Blob): Promise<void> {
  if (!loaded) return;
  loaded.state = unpackState(new Uint8Array(await source.arrayBuffer()), file);
  scope.postMessage({ kind: "teachable" });
}

/** Learns a text with its right labels; the same text again takes the place of its earlier version. */
async function learnText(text: string, labels: readonly string[]): Promise<void> {
  if (!loaded?.state || !loaded.full?.schema.vectoriser) return;
  const { file, full, state } = loaded;
  const before = await probabilities(loaded, text);
  const { dataset } = await readDataset([{ id: `typed: ${text}`, text, labels: [...labels] }], {
    vectoriser: TfidfVectoriser.fromJSON(loaded.full.schema.vectoriser),
  });
  const weight = Math.max(1, Math.round(full.schema.points / LESSON));
  const learned = await learn(full, state, dataset, { weight, threads: 1 });
  const info = use(file, await openFull(learned.model), learned.state);
  const after = await probabilities(loaded, text);
  const changes = (labels.length > 0 ? labels : [...before.keys()].slice(0, 1)).map((label) => ({
    label,
    before: before.get(label) ?? 0,
    after: after.get(label) ?? 0,
  }));
  const bytes = modelToBytes(learned.model);
  scope.postMessage({ kind: "learned", info, bytes, changes }, [bytes.buffer]);
}

/** One for every label. */
async function probabilities({ host, model, reader }: Loaded, text: string): Promise<Map<string, number>> {
  const { features } = reader.read(text);
  const [answers = []] = await host.use((predictor) => predictRows(predictor, features, { topK: model.schema.labels }));
  return new Map(answers.map(({ label, probability }) => [label, probability]));
}

/** The words that speak most for a label: those that come near the first. */
const weightiest = (shares: readonly WordShare[]): WordShare[] =>
  shares.filter(({ share }) => share > 0 && share >= shares[0].share / 5);

async function predict(number: number, text: string): Promise<void> {
  if (!loaded) return;
  const { model, host, reader } = loaded;
  const { features: typed, unknown } = reader.read(text);
  const { features } = modelRows(typed, model.schema);
  const depth = Math.min(LABELS, model.schema.labels);
  const rows = await host.use((predictor) => predictRows(predictor, features, { topK: depth }));
  await host.use((predictor) => explainRows(predictor, model, features, rows, WORDS));
  const answers = (rows[0] ?? []).map(
    (found: Prediction): Answer => ({
      label: model.schema.labelNames ? found.label : `label ${found.label}`,
      probability: found.probability,
      words: weightiest(found.reasons ?? []),
    }),
  );
  scope.postMessage({ kind: "predicted", number, answers, known: typed.values.length, unknown });
}

async function makeCompact(): Promise<void> {
  if (!loaded?.full) return;
  const { compactModel } = await import("../../src/compact/index.ts");
  const bytes = await compactModel(loaded.full);
  scope.postMessage({ kind: "compacted", bytes }, [bytes.buffer]);
}

/** Beside the questions, in turn with them. */
async function label(source: File, settings: LabelSettings): Promise<void> {
  if (!loaded) return;
  labelling.abort();
  labelling = new AbortController();
  const { signal } = labelling;
  try {
    const labelled = await labelFile(loaded, source, settings, {
      signal,
      inTurn: async (work) => {
        // Typed texts and `cancel` are heard before the next piece.
        await new Promise<void>((resolve) => setTimeout(resolve, 0));
        return await inTurn(async () => {
          signal.throwIfAborted();
          return await work();
        });
      },
      onProgress: (rows, part) => scope.postMessage({ kind: "labelling", rows, part }),
    });
    scope.postMessage({ kind: "labelled", ...labelled });
  } catch (error) {
    const columns = missingColumn(error);
    const why = signal.aborted ? {} : { message: inWords(error), ...(columns && { columns }) };
    scope.postMessage({ kind: "unlabelled", ...why });
  }
}

let last: Promise<unknown> = Promise.resolve();
/** One after another, in the order they were asked for. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

function answer(request: Exclude<PredictorRequest, { kind: "cancel" | "label" }>): Promise<void> {
  if (request.kind === "load") return load(request.file, request.source, request.state);
  if (request.kind === "state") return takeState(request.file, request.source);
  if (request.kind === "learn") return learnText(request.text, request.labels);
  return request.kind === "compact" ? makeCompact() : predict(request.number, request.text);
}

scope.onmessage = ({ data }) => {
  if (data.kind === "cancel") labelling.abort();
  else if (data.kind === "label") void inTurn(async () => void label(data.source, data.settings));
  else
    inTurn(() => answer(data)).catch((error: unknown) =>
      scope.postMessage({ kind: "failed", message: inWords(error) }),
    );
};
