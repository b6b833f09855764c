// What the server and its learning threads say to each other. One program serves as either kind of thread: one learns,
// others answer, each with a model that does not change.

import type { FoundLabel, TaggerOptions } from "../tagger.ts";
import type { TaughtDocument } from "./journal.ts";

/** Where a model and its state are. */
export interface LearningPaths {
  readonly model: string;
  readonly state: string;
}

/** What a thread is asked. */
export type Asked =
  /** To open a model that learns. */
  | { readonly open: LearningPaths }
  /** To learn documents, the last of them from this batch of the journal. */
  | { readonly teach: readonly TaughtDocument[]; readonly batch: number }
  /** To write model and state. */
  | { readonly save: LearningPaths }
  /** To answer with this model from now on. */
  | { readonly load: Uint8Array }
  /** To let go of its model until another comes. */
  | { readonly unload: true }
  | { readonly texts: readonly string[]; readonly options: TaggerOptions };

/** A model that learns, as it stands. */
export interface LearnedModel {
  /** Its file. */
  readonly bytes: Uint8Array;
  /** As how many documents those in it count, how many were learned after its training, and how many labels it has. */
  readonly documents: number;
  readonly learned: number;
  readonly labels: number;
  /** How many documents it keeps; without it any number can be learned. */
  readonly kept?: number;
  /** The last batch of the journal that it knows. */
  readonly batch: number;
}

export interface FoundInText {
  readonly labels: readonly FoundLabel[];
  readonly known: number;
}

/** What it answers. */
export type Said =
  | { readonly learned: LearnedModel }
  | { readonly saved: number }
  | { readonly ready: readonly string[] }
  | { readonly found: readonly FoundInText[] }
  | { readonly problem: { readonly name: string; readonly message: string } };
