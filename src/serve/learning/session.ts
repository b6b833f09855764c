// Learning as long as it goes well: the locks of model and state, the thread that learns, and the journal. Changes that cannot
// be learned are set aside in a file, and a thread that fails is replaced by one that learns again what the journal has.

import { appendDurably } from "../../io/files.ts";
import { type Lock, takeLock } from "../../io/lock.ts";
import type { QueriedDocument } from "../../learn/query.ts";
import type { LearningState } from "../../parts/regression/state.ts";
import type { TextInput } from "../project.ts";
import { Thread } from "../threads.ts";
import { type Batch, type Changes, type Journal, openJournal } from "./journal.ts";
import { documentsText, halvesOf, lessonOf } from "./lessons.ts";
import type { LearnedModel, LearningMethods, LearningPaths, Lesson, OpenedModel } from "./methods.ts";

/** Heap of a thread; matrices are outside of it. */
const HEAP_MEGABYTES = 4096;

export type LearningThread = Thread<LearningMethods>;

export const newThread = (): LearningThread => new Thread("learning", HEAP_MEGABYTES);

/** Errors of what was taught, which have changed nothing; after any other the learner may be half changed, or gone. */
const REFUSALS: readonly string[] = ["DataError", "FormatError", "LearningError"];

/** So often a batch is tried that makes the learner fail. */
const TRIES = 2;

export interface SessionOptions {
  readonly paths: LearningPaths;
  readonly say: (sentence: string) => void;
  readonly start?: () => LearningThread;
}

/** A session that was opened, its model, and the batches that the journal has and the state has not. */
export interface Opened {
  readonly session: Session;
  readonly model: OpenedModel;
  readonly left: readonly Batch[];
}

export class Session {
  rejected = 0;

  private constructor(
    private readonly options: SessionOptions,
    private readonly locks: readonly Lock[],
    private readonly journal: Journal,
    private learner: LearningThread,
  ) {}

  static async open(options: SessionOptions): Promise<Opened> {
    const { paths, say, start = newThread } = options;
    const locks: Lock[] = [];
    const check = async (): Promise<void> => {
      for (const lock of locks) await lock.check();
    };
    const learner = start();
    try {
      for (const path of new Set([paths.model, paths.state])) locks.push(await takeLock(path));
      const model = await learner.call("open", paths);
      const journal = await openJournal(`${paths.state}.journal`, model.batch, check, say);
      const left = journal.after(model.batch);
      return { session: new Session(options, locks, journal, learner), model, left };
    } catch (error) {
      await learner.end();
      for (const lock of locks) await lock.release();
      throw error;
    }
  }

  add(changes: Changes): Promise<Batch> {
    return this.journal.add(changes);
  }

  /** Learns batches: all at once or, where that makes the learner fail, one after another. */
  async learn(batches: readonly Batch[]): Promise<LearnedModel> {
    const lesson = lessonOf(batches);
    for (let tries = 1; ; tries++)
      try {
        return await this.#learnParts(lesson);
      } catch (error) {
        await this.#mend(batches[0].batch);
        if (batches.length > 1) break;
        if (tries >= TRIES) return await this.#setAside(lesson, error);
      }
    for (const batch of batches.slice(0, -1)) await this.learn([batch]);
    return await this.learn(batches.slice(-1));
  }

  /** Learns a lesson but for the documents in it that are refused. */
  async #learnParts(lesson: Lesson): Promise<LearnedModel> {
    try {
      return await this.learner.call("learn", lesson);
    } catch (error) {
      if (!REFUSALS.includes((error as Error).name)) throw error;
      const halves = halvesOf(lesson);
      if (halves === undefined) return await this.#setAside(lesson, error);
      await this.#learnParts(halves[0]);
      return await this.#learnParts(halves[1]);
    }
  }

  /** Writes changes that cannot be learned to a file of their own, which `mlgpf learn` can read, and goes on without them. */
  async #setAside({ documents, forget = [], batch }: Lesson, error: unknown): Promise<LearnedModel> {
    const path = `${this.options.paths.state}.rejected.jsonl`;
    const { message: reason } = error as Error;
    const all = [...documents, ...forget.map((id) => ({ id, forget: true }))];
    const lines = all.map((each) => `${JSON.stringify({ ...each, reason, batch })}\n`);
    await appendDurably(path, new TextEncoder().encode(lines.join("")));
    this.rejected += all.length;
    this.options.say(`${path}: set aside ${documentsText(all.length)} that cannot be learned: ${reason}`);
    return await this.learner.call("learn", { documents: [], batch });
  }

  /** A new learner in place of one that failed; it knows all batches before `next`. */
  async #mend(next: number): Promise<void> {
    await this.learner.end();
    this.learner = (this.options.start ?? newThread)();
    const { batch: known } = await this.learner.call("open", this.options.paths);
    const left = this.journal.after(known).filter(({ batch }) => batch < next);
    if (left.length > 0) await this.#learnParts(lessonOf(left));
  }

  /** Writes model and state, and lets go of the batches that are in them. */
  async save(promises?: LearningState["promises"]): Promise<void> {
    const locks = this.locks.map(({ path, token }) => ({ path, token }));
    await this.journal.drop(await this.learner.call("save", { paths: this.options.paths, locks, promises }));
  }

  query(inputs: readonly TextInput[], top: number): Promise<QueriedDocument[]> {
    return this.learner.call("query", { inputs, top });
  }

  /** Ends, whatever is under way: the journal has it. */
  async close(): Promise<void> {
    await this.learner.end();
    await this.journal.close();
    for (const lock of this.locks) await lock.release();
  }
}
