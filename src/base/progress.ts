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

/** Work between two pauses, in products and sums: less than a tenth of a second, which a pause of a millisecond cannot slow. */
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

/** Gives others a turn, and throws if the work was cancelled. */
async function turn({ signal }: WorkOptions): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
  signal?.throwIfAborted();
}
