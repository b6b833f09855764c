// A project that learns: what it is taught goes into a journal first, then into the model, in a thread of its own; the
// new model takes over between two requests.

import { stat } from "node:fs/promises";
import { ArgumentError } from "../../core/errors.ts";
import { takeLock } from "../../io/lock.ts";
import { withKnown } from "../../metrics/prediction.ts";
import type { IndexedDocument, Project, ServedModel } from "../project.ts";
import { Refusal } from "../refusal.ts";
import type { Subjects } from "../subjects.ts";
import type { FoundLabels, Tagger, TaggerInput, TaggerOptions } from "../tagger.ts";
import { Journal, type TaughtBatch, type TaughtDocument } from "./journal.ts";
import { LearningThread } from "./learningthread.ts";
import type { LearnedModel, LearningPaths } from "./messages.ts";
import { checkRoom } from "./room.ts";

/** So many documents in the journal, and model and state are written anew. */
const SAVED_EVERY = 500;

export interface LearningOptions {
  readonly paths: LearningPaths;
  readonly id: string;
  readonly language: string;
  readonly subjects?: Subjects;
  /** As how many documents one that is taught counts. Default 1. */
  readonly weight?: number;
  /** Told of what goes wrong after the documents were taken. */
  readonly onProblem: (sentence: string) => void;
}

/** What a project has learned since its model was trained. */
export interface LearningStanding {
  /** Documents in the model, and how many were learned since its training. */
  readonly documents: number;
  readonly learned: number;
  /** Documents that were taken and are not in it yet. */
  readonly waiting: number;
  /** When documents were last taken. */
  readonly last: string | null;
}

export class LearningProject implements Project {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly subjects?: Subjects;
  readonly #options: LearningOptions;
  readonly #learner: LearningThread;
  readonly #journal: Journal;
  readonly #tagger: CurrentTagger;
  #learned: LearnedModel;
  #model: ServedModel;
  /** On their way into the journal. */
  readonly #taking: Set<readonly TaughtDocument[]> = new Set();
  #waiting: TaughtBatch[] = [];
  #unsaved = 0;
  #last: string | null;
  readonly #release: () => Promise<void>;
  #working: Promise<void> = Promise.resolve();
  #idle = true;
  #stopped: string | undefined;

  private constructor(
    options: LearningOptions,
    parts: {
      learner: LearningThread;
      journal: Journal;
      tagger: CurrentTagger;
      learned: LearnedModel;
      last: string | null;
      release: () => Promise<void>;
    },
  ) {
    this.#options = options;
    this.id = this.name = options.id;
    this.language = options.language;
    if (options.subjects) this.subjects = options.subjects;
    this.#learner = parts.learner;
    this.#journal = parts.journal;
    this.#tagger = parts.tagger;
    this.#learned = parts.learned;
    this.#model = this.#served(parts.learned);
    this.#last = parts.last;
    this.#release = parts.release;
  }

  /** Opens model, state and journal; what the journal has and the state has not is learned before anything is answered. */
  static async open(options: LearningOptions): Promise<LearningProject> {
    const { state } = options.paths;
    const release = await takeLock(`${state}.lock`, state);
    const learner = new LearningThread();
    try {
      let learned = await learner.ask({ open: options.paths }, "learned");
      const journal = await Journal.open(`${options.paths.state}.journal`, learned.batch);
      const left = journal.after(learned.batch);
      if (left.length > 0) learned = await learner.ask(lessonOf(left), "learned");
      const last = left.at(-1)?.time ?? (learned.learned > 0 ? await writtenAt(options.paths.state) : null);
      const tagger = new CurrentTagger();
      await tagger.take(learned.bytes);
      const project = new LearningProject(options, { learner, journal, tagger, learned, last, release });
      if (left.length > 0) await project.#save();
      return project;
    } catch (error) {
      learner.retire();
      await release();
      throw error;
    }
  }

  get model(): ServedModel {
    return this.#model;
  }

  get path(): string {
    return this.#options.paths.model;
  }

  get learning(): LearningStanding {
    const waiting = this.#waiting.reduce((sum, batch) => sum + batch.documents.length, 0);
    const { documents, learned } = this.#learned;
    return { documents, learned, waiting, last: this.#last };
  }

  /** Done when the documents are on the disk; they are learned after that. */
  async learn(documents: readonly IndexedDocument[]): Promise<void> {
    if (this.#stopped !== undefined) throw new Refusal(503, `learning has stopped: ${this.#stopped}`);
    if (documents.length === 0) return;
    const taught = documents.map((document, i) => this.#taught(document, i));
    checkIds(taught);
    const waiting = [...this.#waiting.map((batch) => batch.documents), ...this.#taking].flat();
    checkRoom(this.#learned, this.#tagger.known, waiting, taught);
    this.#taking.add(taught);
    const batch = await this.#journal.add(taught).finally(() => this.#taking.delete(taught));
    this.#last = batch.time;
    this.#waiting.push(batch);
    if (this.#idle) this.#working = this.#work();
  }

  /** What is taken is learned, and written; then nothing is lost by ending. */
  async stop(): Promise<void> {
    await this.#working;
    if (this.#unsaved > 0 && this.#stopped === undefined) await this.#save();
    await this.#journal.close();
    this.#learner.retire();
    this.#tagger.retire();
    await this.#release();
  }

  #taught({ id, text, subjects }: IndexedDocument, index: number): TaughtDocument {
    if (subjects.length === 0)
      throw new Refusal(400, `document ${index}: found no subjects, expected at least one`);
    const { known } = this.#tagger;
    const labels = new Set(
      subjects.map(({ uri, label }) => labelOf(uri, label, known, this.subjects) as string),
    );
    const { weight = 1 } = this.#options;
    return { ...(id !== undefined && { id }), text, labels: [...labels], ...(weight !== 1 && { weight }) };
  }

  /** Learns all that waits, as often as there is more. */
  async #work(): Promise<void> {
    this.#idle = false;
    try {
      while (this.#waiting.length > 0) {
        const batches = [...this.#waiting];
        const learned = await this.#learner.ask(lessonOf(batches), "learned");
        const served = this.#served(learned);
        await this.#tagger.take(learned.bytes);
        this.#learned = learned;
        this.#model = served;
        this.#waiting = this.#waiting.slice(batches.length);
        this.#unsaved += batches.reduce((sum, { documents }) => sum + documents.length, 0);
        if (this.#unsaved >= SAVED_EVERY) await this.#save();
      }
    } catch (error) {
      // What comes later must not be learned without it: the journal keeps it for the next start.
      this.#stopped = (error as Error).message;
      this.#options.onProblem(
        `${this.id}: learning has stopped, the journal keeps what was taken: ${this.#stopped}`,
      );
    } finally {
      this.#idle = true;
    }
  }

  async #save(): Promise<void> {
    const saved = await this.#learner.ask({ save: this.#options.paths }, "saved");
    this.#unsaved = 0;
    await this.#journal.drop(saved);
  }

  #served({ labels }: LearnedModel): ServedModel {
    return { tagger: this.#tagger, labels, modified: new Date() };
  }
}

const writtenAt = async (path: string): Promise<string> => (await stat(path)).mtime.toISOString();

/** Batches as one lesson; of a document that comes several times the last version counts. */
function lessonOf(batches: readonly TaughtBatch[]): { teach: TaughtDocument[]; batch: number } {
  const all = batches.flatMap(({ documents }) => documents);
  const last = new Map(all.map(({ id }, i) => [id, i]));
  const teach = all.filter(({ id }, i) => id === undefined || last.get(id) === i);
  return { teach, batch: (batches.at(-1) as TaughtBatch).batch };
}

function checkIds(documents: readonly TaughtDocument[]): void {
  const seen = new Set<string>();
  for (const { id } of documents) {
    if (id !== undefined && seen.has(id))
      throw new Refusal(400, `found document_id ${JSON.stringify(id)} twice, expected each once`);
    if (id !== undefined) seen.add(id);
  }
}

/** What the model calls a subject: of its names the one that the model has, or else its address. */
function labelOf(
  uri: string | undefined,
  label: string | undefined,
  known: ReadonlySet<string>,
  subjects: Subjects | undefined,
): string | undefined {
  const subject = subjects?.get(uri ?? (label as string));
  const names = [
    uri,
    uri && `<${uri}>`,
    label,
    subject?.uri,
    ...Object.values(subject?.names ?? {}),
    subject?.notation,
  ];
  return names.find((name) => name !== undefined && known.has(name)) ?? uri ?? subject?.uri ?? label;
}

/**
 * The tagger of a model that changes: whoever asks is answered by the newest. Two threads take turns, so that the code of the one
 * that is to take over has been compiled before.
 */
class CurrentTagger implements Tagger {
  #thread: LearningThread | undefined;
  #other: LearningThread | undefined;
  labels: readonly string[] = [];
  /** The same, to look up. */
  known: ReadonlySet<string> = new Set();
  readonly info = { form: "learning" };

  /** Answers with this model once it is loaded; the one before answers what it was asked, and lets go of its model. */
  async take(bytes: Uint8Array): Promise<void> {
    this.#other ??= new LearningThread();
    const next = this.#other;
    this.labels = await next.ask({ load: bytes }, "ready", [bytes.buffer as ArrayBuffer]);
    this.known = new Set(this.labels);
    this.#other = this.#thread;
    this.#thread = next;
    await this.#other?.ask({ unload: true }, "ready");
  }

  async predictMany(inputs: readonly TaggerInput[], options: TaggerOptions): Promise<readonly FoundLabels[]> {
    const texts = inputs.map((input) => {
      if (typeof input === "string") return input;
      throw new ArgumentError("input", "found features, expected a text: this model learns from texts");
    });
    const thread = this.#thread as LearningThread;
    const found = await thread.ask({ texts, options }, "found");
    return found.map(({ labels, known }) => withKnown([...labels] as never, known) as FoundLabels);
  }

  retire(): void {
    this.#thread?.retire();
    this.#other?.retire();
  }
}
