// The program of the thread for large requests, which has the models by itself: nobody who asks for little waits for them.

import type { LabelLists } from "../base/prediction.ts";
import { Executor, type Job } from "./executor.ts";
import { garbageCollector } from "./garbage.ts";
import type { Reply } from "./http.ts";
import { HEAP_PER_BYTE, type Limits } from "./limits.ts";
import { loadCompact } from "./models.ts";
import type { Project } from "./project.ts";
import { type Subject, Subjects } from "./subjects.ts";
import { answerCalls } from "./threads.ts";

interface BulkStart {
  readonly limits: Limits;
  readonly lists: LabelLists;
  readonly projects: readonly { language: string; subjects?: readonly Subject[] | undefined }[];
}

/** Projects without their models until these are sent. */
const projects: (Omit<Project, "model"> & { model?: Project["model"] })[] = [];
let executor: Executor;
const freed = garbageCollector();

const methods = {
  start(start: BulkStart): void {
    for (const { language, subjects } of start.projects)
      projects.push({ id: "", name: "", language, ...(subjects && { subjects: new Subjects(subjects) }) });
    executor = new Executor(projects as Project[], start.limits, start.lists);
  },

  /** A model takes the place of the one before. */
  async load({ project, model }: { project: number; model: Uint8Array }): Promise<void> {
    projects[project].model = await loadCompact(model);
  },

  async answer(job: Job): Promise<Reply> {
    const bytes = job.bytes.length;
    try {
      return await executor.answer(executor.read(job), job.project);
    } finally {
      // After the reply is sent.
      setTimeout(freed, 0, HEAP_PER_BYTE * bytes);
    }
  },
};

export type BulkMethods = typeof methods;

answerCalls(methods);
