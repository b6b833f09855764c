// A model as the server holds it: under a name, with what can be said about it, and replaced while the server runs.

import type { Input, VectorInput } from "../base/input.ts";
import type { Expected, Prediction, Predictions, PredictOptions } from "../base/prediction.ts";
import type { QueriedDocument } from "../learn/query.ts";
import type { PromiseStatus } from "./learning/drift.ts";
import type { Subjects } from "./subjects.ts";

/** The labels of an input, most probable first, and the part of the input that the model knows, where it tells. */
export type Found = readonly Prediction[] & Partial<Pick<Predictions, "known" | "unseen">> & Expected;

/** A model that predicts, such as that of mlgpf/edge. An input that it cannot take is refused by an ArgumentError. */
export interface Tagger {
  readonly labels: ArrayLike<string>;
  /** Shown by /health and /metrics. */
  readonly info?: object;
  predictMany(inputs: readonly Input[], options: PredictOptions): readonly Found[] | Promise<readonly Found[]>;
}

/** A model that is ready, as it stands until the next one takes over. */
export interface ServedModel {
  readonly tagger: Tagger;
  /** How many labels it has. */
  readonly labels: number;
  /** When it was made, where that is known. */
  readonly modified?: Date;
  /** The compact model that another thread can load, where there is one. */
  readonly bytes?: Uint8Array | undefined;
}

/** A text, with vectors where the model has some. */
export interface TextInput extends VectorInput {
  readonly text: string;
}

/** The same as a tagger takes it. */
export const asInput = ({ text, vector, vectors }: TextInput): Input =>
  vector || vectors ? { text, ...(vector && { vector }), ...(vectors && { vectors }) } : text;

/** A document with the subjects that people gave it: of the model, or ones that it has not met. */
export interface IndexedDocument extends TextInput {
  /** A document with the id of an earlier one takes its place. */
  readonly id?: string;
  readonly subjects: readonly { readonly uri?: string; readonly label?: string }[];
}

/** A project as those see it who teach. */
export interface Learning {
  /** Shown with the project: how many documents it has learned, how many wait. */
  readonly status: object;
  /** How the model's promises stand on what people have taught. */
  readonly promises?: readonly PromiseStatus[];
  /** Ids of the documents that can be forgotten. */
  readonly documentIds: ReadonlySet<string>;
  /** Learns from documents; done when nothing of them can be lost any more. */
  learn(documents: readonly IndexedDocument[]): Promise<void>;
  /** Forgets documents by their ids; done when that cannot be lost any more. */
  forget(ids: readonly string[]): Promise<void>;
  /** The texts from which the model would learn most, best first. */
  query(inputs: readonly TextInput[], top: number): Promise<readonly QueriedDocument[]>;
}

/** One of the models that a server answers for. */
export interface Project {
  /** Its name in addresses: /predict/{id}, /v1/projects/{id}. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  /** The language of its texts, as a code such as "en". */
  readonly language: string;
  /** The model that answers now. Requests that have begun go on with the one they began with. */
  readonly model: ServedModel;
  /** Addresses and names of its labels, where a label file gave them. */
  readonly subjects?: Subjects;
  /** Absent where the server does not learn. */
  readonly learning?: Learning;
}

/** A tagger by itself as a project. */
export function projectOf(tagger: Tagger, id = "default"): Project {
  return { id, name: id, language: "en", model: { tagger, labels: tagger.labels.length } };
}
