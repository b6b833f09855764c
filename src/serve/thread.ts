// The thread that takes large requests: it has the models by itself, so that a body of a megabyte keeps nobody waiting
// who asks for little. Started by another.ts.

import { parentPort, workerData } from "node:worker_threads";
import type { LabelLists } from "../metrics/allowed.ts";
import type { Answer } from "./answer.ts";
import { loadCompact } from "./compact.ts";
import type { Limits } from "./limits.ts";
import type { Project, ServedModel } from "./project.ts";
import { Refusal } from "./refusal.ts";
import { type Subject, Subjects } from "./subjects.ts";
import { type Job, Workbench } from "./work.ts";

/** What the thread is started with. */
export interface ThreadStart {
  readonly limits: Limits;
  readonly lists: LabelLists;
  readonly projects: readonly { language: string; subjects?: readonly Subject[] }[];
}

/** What it is told: a model takes the place of the one before, or a job is to be done. */
export type ThreadAsked = { readonly project: number; readonly model: Uint8Array } | { readonly job: Job };

/** What it says of each: a model is ready, an answer, or why there is none. */
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

const { limits, lists, projects: given } = workerData as ThreadStart;
const projects = given.map((project) => new Held(project));
const workbench = new Workbench(projects, limits, lists);

async function answerTo(asked: ThreadAsked): Promise<ThreadAnswer> {
  try {
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

parentPort?.on("message", async (asked: ThreadAsked) => {
  const said = await answerTo(asked);
  const pieces = "answer" in said && typeof said.answer.body !== "string" ? said.answer.body : [];
  parentPort?.postMessage(
    said,
    pieces.map(({ buffer }) => buffer as ArrayBuffer),
  );
});
