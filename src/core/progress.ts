// Long work says where it is, can be cancelled, and lets the event loop run now and then.

/** Of long work: hear how far it is, and cancel it. */
export interface WorkOptions {
  /** Called as the work goes on: a word for what is being done, and how much of it is (0 to 1). */
  onProgress?: (progress: { stage: string; fraction: number }) => void;
  /** Ends the work with the signal's reason. */
  signal?: AbortSignal;
}

/** Between two parts of the work: reports, gives others a turn, and throws if the work was cancelled. */
export async function pause(options: WorkOptions, stage: string, fraction: number): Promise<void> {
  options.signal?.throwIfAborted();
  options.onProgress?.({ stage, fraction });
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
  options.signal?.throwIfAborted();
}
