// The thread for large requests: started with the first one, again after it fails, and sent each model when it needs it.

import type { LabelLists } from "../base/prediction.ts";
import type { BulkMethods } from "./bulkthread.ts";
import type { DoBulk } from "./executor.ts";
import { busy } from "./http.ts";
import { HEAP_PER_BYTE, type Limits } from "./limits.ts";
import type { Project, ServedModel } from "./project.ts";
import { buffersIn, Thread } from "./threads.ts";

const MEGABYTE = 2 ** 20;
/** Heap of the thread without any request. Only Node keeps to it. */
const HEAP_MEGABYTES = 192;

export function bulkThread(
  projects: readonly Project[],
  limits: Limits,
  lists: LabelLists,
): { answer: DoBulk; stop(): void } {
  const megabytes = HEAP_MEGABYTES + Math.ceil((HEAP_PER_BYTE * limits.bodyBytes) / MEGABYTE);
  const about = projects.map(({ language, subjects }) => ({ language, subjects: subjects?.rows }));
  let thread: Thread<BulkMethods> | undefined;
  let loaded: (ServedModel | undefined)[] = [];
  return {
    async answer(job) {
      if (thread === undefined || thread.ended) {
        thread = new Thread("bulk", megabytes);
        loaded = [];
        await thread.call("start", { limits, lists, projects: about });
      }
      const { project } = job;
      const { model } = projects[project];
      if (loaded[project] !== model) {
        await thread.call("load", { project, model: model.bytes as Uint8Array });
        loaded[project] = model;
      }
      return await thread.call("answer", job, buffersIn(job));
    },
    stop: () => void thread?.end(busy("the server is stopping")),
  };
}
