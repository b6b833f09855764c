// A learning thread as the server sees it: questions in, answers out, in order.

import { startThread, type Thread } from "../channel.ts";
import type { Asked, Said } from "./messages.ts";

/** Heap of a thread; matrices are outside of it. */
const HEAP_MEGABYTES = 4096;

/** Where the thread's program is: beside this one in the package, a source file in a clone. */
function program(): URL {
  const here = import.meta.url;
  if (here.endsWith(".ts")) return new URL("./program.ts", here);
  return new URL(here.includes("/chunks/") ? "../learn-thread.js" : "./learn-thread.js", here);
}

interface Waiting {
  done(said: Said): void;
  failed(error: unknown): void;
}

export class LearningThread {
  readonly #thread: Thread<Said, Asked> = startThread(program(), HEAP_MEGABYTES);
  #waiting: Waiting[] = [];
  #ended = false;
  #retired = false;

  constructor() {
    this.#thread.listen((said) => {
      const waiting = this.#waiting.shift();
      if ("problem" in said)
        waiting?.failed(Object.assign(new Error(said.problem.message), { name: said.problem.name }));
      else waiting?.done(said);
      if (this.#retired && this.#waiting.length === 0) this.#thread.end();
    });
    void this.#thread.ended.then((error) => {
      this.#ended = true;
      for (const { failed } of this.#waiting) failed(error ?? new Error("the learning thread ended"));
      this.#waiting = [];
    });
  }

  /** An answer of the kind that the question has. */
  async ask<Kind extends string>(
    asked: Asked,
    kind: Kind,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<
    Extract<Said, { readonly [K in Kind]: unknown }>[Kind &
      keyof Extract<Said, { readonly [K in Kind]: unknown }>]
  > {
    const said = await new Promise<Said>((done, failed) => {
      if (this.#ended) throw new Error("the learning thread ended");
      this.#waiting.push({ done, failed });
      this.#thread.send(asked, transfer);
    });
    return (said as never)[kind];
  }

  /** Ends when what was asked is answered. */
  retire(): void {
    this.#retired = true;
    if (this.#waiting.length === 0) this.#thread.end();
  }
}
