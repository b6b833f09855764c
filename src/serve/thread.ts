// The thread that takes large requests: it has the models by itself, so that a body of a megabyte keeps nobody waiting
// who asks for little. Started by otherthread.ts.

import type { LabelLists } from "../metrics/allowed.ts";
import type { Answer } from "./answer.ts";
import { ownSide } from "./channel.ts";
import { loadCompact } from "./compact.ts";
import { garbageCollector } from "./garbage.ts";
import { HEAP_PER_BYTE, type Limits } from "./limits.ts";
import type { Project, ServedModel } from "./project.ts";
import { Refusal } from "./refusal.ts";
import { type Subject, Subjects } from "./subjects.ts";
import { type Job, Workbench } from "./work.ts";

/** What the thread is told first. */
export interface ThreadStart {
  readonly limits: Limits;
  readonly lists: LabelLists;
  readonly projects: readonly { language: string; subjects?: readonly Subject[] }[];
}

/** What it is told: how to begin, that a model takes the place of the one before, that a job is to be done. */
export type ThreadAsked =
  | { readonly start: ThreadStart }
  | { readonly project: number; readonly model: Uint8Array }
  | { readonly job: Job };

/** What it says to each: that it is ready, an answer, or why there is none. */
export type ThreadAnswer =
  | { readonly ready: true }
  | { readonly answer: Answer }
  | { readonly refusal: { status: number; sentence: string; headers: Readonly<Record<string, string>> } }
  | { readonly fault: string };

class Held implements Project {
  readonly id = "";
  readonly name = "";
  readonly language: string;
  readonly subjects?: Subjects;
  model!: ServedModel;

  constructor({ language, subjects }: ThreadStart["projects"][number]) {
    this.language = language;
    if (subjects) this.subjects = new Subjects(subjects);
  }
}

let projects: Held[] = [];
let workbench: Workbench;

async function answerTo(asked: ThreadAsked): Promise<ThreadAnswer> {
  try {
    if ("start" in asked) {
      projects = asked.start.projects.map((project) => new Held(project));
      workbench = new Workbench(projects, asked.start.limits, asked.start.lists);
      return { ready: true };
    }
    if ("model" in asked) {
      (projects[asked.project] as Held).model = await loadCompact(asked.model);
      return { ready: true };
    }
    const { job } = asked;
    return { answer: await workbench.answer(workbench.read(job), job.project) };
  } catch (error) {
    if (!(error instanceof Refusal)) return { fault: String((error as Error)?.stack ?? error) };
    const { status, message: sentence, headers } = error;
    return { refusal: { status, sentence, headers } };
  }
}

const side = ownSide<ThreadAsked, ThreadAnswer>();
const freed = garbageCollector();
side.listen(async (asked) => {
  const bytes = "job" in asked ? asked.job.bytes.length : 0;
  const said = await answerTo(asked);
  const pieces = "answer" in said && typeof said.answer.body !== "string" ? said.answer.body : [];
  side.send(
    said,
    pieces.map(({ buffer }) => buffer as ArrayBuffer),
  );
  freed(HEAP_PER_BYTE * bytes);
});
