// Long work says where it is, can be cancelled, and lets the event loop run now and then.

/** Progress and cancelling of long work. */
export interface WorkOptions {
  /** Called as the work goes on: a word for what is being done, and how much of it is (0 to 1). */
  onProgress?: (progress: { stage: string; fraction: number }) => void;
  /** Ends the work with the signal's reason. */
  signal?: AbortSignal;
}

/** Between two parts of the work: reports, gives others a turn, and throws if the work was cancelled. */
export async function yieldToHost(options: WorkOptions, stage: string, fraction: number): Promise<void> {
  options.signal?.throwIfAborted();
  options.onProgress?.({ stage, fraction });
  await turn(options);
}

/** Work between two pauses, in products and sums: less than a tenth of a second. */
const AT_ONCE = 2e8;

/** Does `work` for the items from 0 to `count`, so many at a time that a cancellation is heard soon. */
export async function byParts(
  options: WorkOptions,
  count: number,
  operationsEach: number,
  work: (from: number, to: number) => void,
): Promise<void> {
  const step = Math.max(1, Math.floor(AT_ONCE / Math.max(1, operationsEach)));
  for (let from = 0; from < count; from += step) {
    if (from > 0) await turn(options);
    work(from, Math.min(count, from + step));
  }
}

/** Milliseconds of work after which others are given a turn. */
const LONG_ENOUGH = 20;

/** Pauses of work whose pieces are small and of many sizes: `if (turns.due) await turns.take()` between two of them. */
export class Turns {
  #since = performance.now();

  constructor(private readonly options: Pick<WorkOptions, "signal"> = {}) {}

  get due(): boolean {
    return performance.now() - this.#since > LONG_ENOUGH;
  }

  async take(): Promise<void> {
    await turn(this.options);
    this.#since = performance.now();
  }
}

/** Does work that says where it can pause, without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does it with a turn for others at a pause, when they have waited long enough. */
export async function inTurns<T>(steps: Generator<void, T>, options?: Pick<WorkOptions, "signal">): Promise<T> {
  const turns = new Turns(options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.due) await turns.take();
  }
}

/** Calls `work` when others had a turn. A timer takes a millisecond or four, so it is for hosts that have nothing faster. */
export const later: (work: () => void) => void =
  (globalThis as { setImmediate?: (work: () => void) => void }).setImmediate ?? ((work) => setTimeout(work, 0));

/** Gives others a turn, and throws if the work was cancelled. */
async function turn({ signal }: Pick<WorkOptions, "signal">): Promise<void> {
  await new Promise<void>(later);
  signal?.throwIfAborted();
}
