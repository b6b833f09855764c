// A model as the server holds it: under a name, with what can be said about it, and replaced while the server runs.

import type { Subjects } from "./subjects.ts";
import type { Tagger } from "./tagger.ts";

/** A model that is ready, as it stands until the next one takes over. */
export interface ServedModel {
  readonly tagger: Tagger;
  /** How many labels it has. */
  readonly labels: number;
  /** When it was made, where that is known. */
  readonly modified?: Date;
  /** The compact model that another thread can load, where there is one. */
  readonly bytes?: Uint8Array;
}

/** A document with the subjects that people gave it: of the model, or ones that it has not met. */
export interface IndexedDocument {
  /** A document with the id of an earlier one takes its place. */
  readonly id?: string;
  readonly text: string;
  readonly subjects: readonly { readonly uri?: string; readonly label?: string }[];
}

/** One of the models that a server answers for. */
export interface Project {
  /** Its name in addresses: /predict/{id}, /v1/projects/{id}. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  /** The language of its texts, as a code such as "en". */
  readonly language: string;
  /** What answers now. Requests that have begun go on with the one they began with. */
  readonly model: ServedModel;
  /** Addresses and names of its labels, where a label file gave them. */
  readonly subjects?: Subjects;
  /** How many documents it was taught and when, where it learns. */
  readonly learning?: object;
  /** Learns from documents; done when nothing of them can be lost any more. Absent where the server does not learn. */
  learn?(documents: readonly IndexedDocument[]): Promise<void>;
}

/** A tagger by itself as a project. */
export function projectOf(tagger: Tagger, id = "default"): Project {
  return { id, name: id, language: "en", model: { tagger, labels: tagger.labels.length } };
}
