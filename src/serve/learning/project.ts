// A project that learns: documents go into a journal, then in a thread of its own into the model, which takes over between two
// requests. Where learning fails the model goes on answering, and learning is tried again.

import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { ArgumentError, FormatError } from "../../base/errors.ts";
import type { Input, VectorShape } from "../../base/input.ts";
import { counted, grouped } from "../../base/numbers.ts";
import { type PredictOptions, withAbout } from "../../base/prediction.ts";
import { readWhole, targetOf } from "../../io/files.ts";
import type { QueriedDocument } from "../../learn/query.ts";
import type { HeldBytes } from "../body.ts";
import { Embedding } from "../embedding.ts";
import { HttpError } from "../http.ts";
import type { ProjectOptions } from "../models.ts";
import type { Found, IndexedDocument, Learning, Project, ServedModel, Tagger, TextInput } from "../project.ts";
import type { Subjects } from "../subjects.ts";
import { oneByOne } from "../threads.ts";
import { Drift, type Judgement, type PromiseStatus } from "./drift.ts";
import type { Batch, Changes, TaughtDocument } from "./journal.ts";
import { checkOnce, checkRoom, checkVectors, documentsText, sizeOf, taughtDocuments } from "./lessons.ts";
import type { LearnedModel, LearningPaths } from "./methods.ts";
import { type LearningThread, newThread, Session } from "./session.ts";

/** So many documents, or bytes of them, in the journal, and model and state are written anew. */
const SAVED_EVERY = { documents: 500, bytes: 64 << 20 };
/** Learning that has stopped is tried again after so long. */
const RETRY_MILLISECONDS = 10_000;
/** Documents of one lesson that the promises are judged by. */
const JUDGED = 200;

export interface LearningOptions extends ProjectOptions {
  readonly paths: LearningPaths;
  /** As how many documents one that is taught counts. Default 1. */
  readonly weight?: number;
  /** Labels that the model may have; without it as many as fit into memory. */
  readonly maxLabels?: number;
  /** Counts what documents hold that are not learned yet. */
  readonly held: HeldBytes;
  readonly say: (sentence: string) => void;
}

/** Problems of the disk that pass: the model can be served until they have. */
const DISK: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO"];

const codeOf = (error: unknown): string => (error as { code?: string } | undefined)?.code ?? "";

export class LearningProject implements Project, Learning {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly subjects?: Subjects;
  readonly #options: LearningOptions;
  readonly #tagger: CurrentTagger;
  #drift: Drift | undefined;
  readonly #judged = oneByOne();
  /** Lessons get their vectors one after another, and questions are asked so: a thousand vectors take much more than their texts. */
  readonly #embedded = oneByOne();
  readonly #queried = oneByOne();
  #session: Session | undefined;
  /** Why learning has stopped, and what was last said about it. */
  #problem: string | undefined;
  #warned = "";
  #standing: LearnedModel | undefined;
  #model: ServedModel;
  #ids = new Set<string>();
  /** On their way into the journal. */
  readonly #taking = new Set<Changes>();
  #waiting: Batch[] = [];
  #unsaved = { documents: 0, bytes: 0 };
  #rejected = 0;
  #last: string | null = null;
  #working: Promise<void> | undefined;
  #stopping = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(options: LearningOptions) {
    this.#options = options;
    this.id = this.name = options.id;
    this.language = options.language;
    this.subjects = options.subjects;
    const { model } = options.paths;
    this.#tagger = new CurrentTagger(() => readWhole(model), options.embed);
    this.#model = { tagger: this.#tagger, labels: 0 };
  }

  /**
   * Opens model, state and journal; changes that the journal has and the state has not are learned before anything is answered.
   * Where only learning is not possible now, as with a full disk or a damaged journal, the model is served without.
   */
  static async open(given: LearningOptions): Promise<LearningProject> {
    const { model, state } = given.paths;
    // Journal, locks and what else belongs to a file stand beside it, whatever links lead there.
    const paths = { model: (await targetOf(model)).path, state: (await targetOf(state)).path };
    const project = new LearningProject({ ...given, paths });
    try {
      await project.#begin();
    } catch (error) {
      const journal = error instanceof FormatError && error.file === `${paths.state}.journal`;
      const tagger = project.#tagger;
      if (!journal && !DISK.includes(codeOf(error))) {
        tagger.retire();
        throw error;
      }
      await tagger.reload();
      project.#model = { tagger, labels: tagger.labels.length, modified: (await stat(paths.model)).mtime };
      project.#stopped(error);
    }
    project.#timer = setInterval(() => project.#retry(), RETRY_MILLISECONDS);
    project.#timer.unref?.();
    return project;
  }

  get model(): ServedModel {
    return this.#model;
  }

  get path(): string {
    return this.#options.paths.model;
  }

  get learning(): Learning {
    return this;
  }

  /**
   * Documents in the model, learned since its training, taken and not in it yet, set aside because they cannot be; when some were last
   * taken, and why learning has stopped if it has.
   */
  get status(): object {
    const waiting = this.#waiting.reduce((sum, batch) => sum + countOf(batch), 0);
    const { documents, learned } = this.#standing ?? {};
    return { documents, learned, waiting, rejected: this.#rejected, last: this.#last, problem: this.#problem };
  }

  get promises(): readonly PromiseStatus[] {
    return this.#drift?.status ?? [];
  }

  get documentIds(): ReadonlySet<string> {
    return this.#ids;
  }

  async learn(documents: readonly IndexedDocument[]): Promise<void> {
    const { weight, maxLabels } = this.#options;
    this.#ready();
    if (documents.length === 0) return;
    const whole = await this.#embedded(() => this.#tagger.beside(documents));
    const { standing } = this.#ready();
    const { known, vectors } = this.#tagger;
    checkVectors(whole, vectors);
    const taught = taughtDocuments(whole, known, this.subjects, weight);
    const waiting = [...this.#waiting, ...this.#taking].flatMap((changes) => changes.documents);
    checkRoom(standing, known, waiting, taught, maxLabels);
    await this.#take({ documents: taught });
  }

  async forget(ids: readonly string[]): Promise<void> {
    const { standing } = this.#ready();
    checkOnce(ids);
    const unknown = ids.find((id) => !this.#ids.has(id));
    if (unknown !== undefined)
      throw new HttpError(404, `found document_id ${JSON.stringify(unknown)}, expected one that was learned`);
    if (ids.length === this.#ids.size && standing.nameless === 0)
      throw new HttpError(400, "found all documents among those to forget, expected one that stays");
    if (ids.length > 0) await this.#take({ documents: [], forget: ids });
  }

  query(inputs: readonly TextInput[], top: number): Promise<QueriedDocument[]> {
    return this.#queried(async () => {
      const { session } = this.#ready();
      const whole = await this.#tagger.beside(inputs);
      checkVectors(whole, this.#tagger.vectors);
      return await session.query(whole, top);
    });
  }

  /** Learns and writes what was taken, within the time: what is not done by then is in the journal. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    const finish = async (): Promise<boolean> => {
      await this.#working;
      if (this.#session && this.#unsaved.documents > 0) await this.#save(this.#session);
      return true;
    };
    if (!(await Promise.race([finish(), setTimeout(milliseconds, false, { ref: false })]).catch(() => false)))
      this.#say("ended before all was learned; the journal keeps the rest for the next start");
    await this.#session?.close();
    this.#tagger.retire();
  }

  #say(sentence: string): void {
    this.#options.say(`${this.id}: ${sentence}`);
  }

  #ready(): { session: Session; standing: LearnedModel } {
    if (this.#stopping) throw new HttpError(503, "the server is stopping");
    const [session, standing] = [this.#session, this.#standing];
    if (session && standing) return { session, standing };
    throw new HttpError(503, `learning has stopped: ${this.#problem}`, { "retry-after": "10" });
  }

  async #begin(): Promise<void> {
    const { paths, say } = this.#options;
    const { session, model, left } = await Session.open({ paths, say });
    try {
      this.#ids = new Set(model.ids);
      this.#drift ??= new Drift((sentence) => this.#say(sentence), model.promises);
      this.#drift.batch = Math.min(this.#drift.batch, left.at(-1)?.batch ?? model.batch);
      // Batches from shortly before a crash are judged now, by the model as it was written.
      if (left.length > 0) await this.#tagger.reload();
      for (const batch of left) this.#note(batch);
      await this.#judged(async () => {});
      this.#last ??= model.learned > 0 ? (await stat(paths.state)).mtime.toISOString() : null;
      if (left.length > 0) {
        await this.#learnBatches(session, left, model);
        await this.#save(session);
      } else await this.#serve(model);
    } catch (error) {
      await session.close();
      throw error;
    }
    this.#session = session;
    this.#problem = undefined;
    this.#warned = "";
  }

  /** Says something once, until learning goes on. */
  #warn(sentence: string): void {
    if (sentence !== this.#warned) this.#say(sentence);
    this.#warned = sentence;
  }

  /** Learning stops; the journal has whatever waits. */
  #stopped(error: unknown): void {
    this.#warn(`learning has stopped, predicting goes on: ${(error as Error).message}`);
    this.#problem = problemOf(error);
    this.#session = undefined;
    for (const batch of this.#waiting.splice(0)) this.#options.held.give(sizeOf(batch));
  }

  #retry(): void {
    if (this.#session || this.#working || this.#stopping) return;
    const begin = async (): Promise<void> => {
      try {
        await this.#begin();
        this.#say("learning goes on");
      } catch (error) {
        this.#stopped(error);
      } finally {
        this.#working = undefined;
      }
    };
    this.#working = begin();
  }

  /** How the promises of the model that answers now do on documents that it has not learned; nobody waits for it. */
  #judge({ batch, documents }: Batch): void {
    const drift = this.#drift;
    if (!drift || batch <= drift.batch) return;
    // The model has seen documents that replace an earlier version.
    const unseen = documents.filter(({ id }) => id === undefined || !this.#ids.has(id)).slice(0, JUDGED);
    // Where the thread ends meanwhile these are not judged.
    const judgements = unseen.length > 0 ? this.#tagger.judge(unseen).catch(() => undefined) : undefined;
    void this.#judged(async () => {
      const found = await judgements;
      if (found) drift.add(found, batch);
      else drift.batch = batch;
    });
  }

  /** Puts changes into the journal; they are learned when the learner has time. */
  async #take(changes: Changes): Promise<void> {
    const { session } = this.#ready();
    this.#options.held.take(sizeOf(changes));
    this.#taking.add(changes);
    let batch: Batch;
    try {
      batch = await session.add(changes);
    } catch (error) {
      this.#options.held.give(sizeOf(changes));
      this.#warn(`documents were refused: ${(error as Error).message}`);
      if (codeOf(error) === "ESTALE") await this.#fail(session, error);
      throw new HttpError(DISK.includes(codeOf(error)) ? 507 : 503, `${problemOf(error)}: nothing was taken`);
    } finally {
      this.#taking.delete(changes);
    }
    // A session that has ended meanwhile has left it to the next.
    if (session !== this.#session) return this.#options.held.give(sizeOf(changes));
    this.#note(batch);
    this.#waiting.push(batch);
    this.#working ??= this.#work(session);
  }

  #note(batch: Batch): void {
    const { documents, forget = [], time } = batch;
    this.#judge(batch);
    for (const id of forget) this.#ids.delete(id);
    for (const { id } of documents) if (id !== undefined) this.#ids.add(id);
    this.#last = time;
  }

  async #work(session: Session): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batches = [...this.#waiting];
        const { rejected } = session;
        await this.#learnBatches(session, batches, this.#standing as LearnedModel);
        for (const batch of this.#waiting.splice(0, batches.length)) this.#options.held.give(sizeOf(batch));
        const { documents, bytes } = this.#unsaved;
        const due = documents >= SAVED_EVERY.documents || bytes >= SAVED_EVERY.bytes;
        if (due || session.rejected > rejected) await this.#save(session);
      }
    } catch (error) {
      await this.#fail(session, error);
    } finally {
      this.#working = undefined;
    }
  }

  async #fail(session: Session, error: unknown): Promise<void> {
    if (this.#stopping || session !== this.#session) return;
    this.#stopped(error);
    await session.close();
  }

  async #learnBatches(session: Session, batches: readonly Batch[], before: LearnedModel): Promise<void> {
    const begin = performance.now();
    const { rejected } = session;
    const model = await session.learn(batches);
    await this.#serve(model);
    this.#rejected += session.rejected - rejected;
    this.#unsaved.documents += batches.reduce((sum, batch) => sum + countOf(batch), 0);
    this.#unsaved.bytes += batches.reduce((sum, batch) => sum + sizeOf(batch), 0);
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    const forgotten = model.forgotten - before.forgotten;
    const also = forgotten > 0 ? ` and forgot ${grouped(forgotten)}` : "";
    const now = `${documentsText(model.documents)}, ${counted(model.labels, "label")}`;
    this.#say(`learned ${documentsText(model.learned - before.learned)}${also} in ${seconds} s: now ${now}`);
  }

  async #serve(model: LearnedModel): Promise<void> {
    await this.#tagger.take(model.bytes);
    this.#standing = model;
    this.#model = { tagger: this.#tagger, labels: model.labels, modified: new Date() };
  }

  /** A model that cannot be written now is in the journal, and written with the next lesson or the next start. */
  async #save(session: Session): Promise<void> {
    try {
      // The state that is written knows how the batches in it were judged.
      await this.#judged(async () => {});
      await session.save(this.#drift?.kept);
      this.#unsaved = { documents: 0, bytes: 0 };
    } catch (error) {
      if (!DISK.includes(codeOf(error))) throw error;
      this.#say(`not saved, the journal keeps it: ${(error as Error).message}`);
    }
  }
}

const countOf = ({ documents, forget = [] }: Changes): number => documents.length + forget.length;

/** An error for those who ask: without paths. */
function problemOf(error: unknown): string {
  const code = codeOf(error);
  if (DISK.includes(code)) return "the disk is full or cannot be written";
  if (["EBUSY", "ESTALE"].includes(code)) return "another process is learning with this state";
  return error instanceof FormatError ? "the journal is damaged" : "learning failed, and is tried again";
}

/**
 * The tagger of a model that changes: whoever asks is answered by the newest. Two threads take turns, so that the code of the one
 * that is to take over has been compiled before. One that dies is replaced, with the model that was saved last.
 */
class CurrentTagger implements Tagger {
  readonly #saved: () => Promise<Uint8Array>;
  readonly #embed: string | undefined;
  #embedding: Embedding | undefined;
  #thread: LearningThread | undefined;
  #other: LearningThread | undefined;
  readonly #next = oneByOne();
  labels: readonly string[] = [];
  known: ReadonlySet<string> = new Set();
  vectors: readonly VectorShape[] = [];
  readonly info = { form: "learning" };

  constructor(saved: () => Promise<Uint8Array>, embed: string | undefined) {
    this.#saved = saved;
    this.#embed = embed;
  }

  /** Inputs with the vectors that an embedder makes of those without. */
  async beside<I>(inputs: readonly I[]): Promise<readonly I[]> {
    return (await this.#embedding?.beside(inputs)) ?? inputs;
  }

  /** Answers with this model once it is loaded; the one before answers what it was asked, and lets go of its model. */
  take(bytes: Uint8Array): Promise<void> {
    return this.#next(() => this.#swap(bytes));
  }

  /** Answers with the model that was saved last, if the one that should has died. */
  reload(): Promise<void> {
    return this.#next(async () => {
      if (this.#thread === undefined || this.#thread.ended) await this.#swap(await this.#saved());
    });
  }

  async predictMany(given: readonly Input[], options: PredictOptions): Promise<readonly Found[]> {
    for (const input of given)
      if (typeof input !== "string" && typeof (input as Partial<TextInput>).text !== "string")
        throw new ArgumentError("input", "found features, expected a text: this model learns from texts");
    const inputs = await this.beside(given);
    if (this.#thread?.ended) await this.reload();
    const found = await (this.#thread as LearningThread).call("predict", { inputs, options });
    return found.map(({ labels, known, ...expected }) => withAbout(labels, known, expected));
  }

  judge(documents: readonly TaughtDocument[]): Promise<readonly Judgement[]> {
    return (this.#thread as LearningThread).call("judge", documents);
  }

  retire(): void {
    this.#thread?.retire();
    this.#other?.retire();
  }

  async #swap(bytes: Uint8Array): Promise<void> {
    const next = this.#other && !this.#other.ended ? this.#other : newThread();
    this.#other = next;
    const model = await next.call("load", bytes, [bytes.buffer as ArrayBuffer]);
    if (this.#embed !== undefined) this.#embedding ??= await Embedding.open(this.#embed, model);
    this.labels = model.labels;
    this.vectors = model.vectors;
    this.known = new Set(this.labels);
    [this.#other, this.#thread] = [this.#thread, next];
    // One that has died is not needed for a turn.
    await this.#other?.call("unload", undefined).catch(() => {});
  }
}
