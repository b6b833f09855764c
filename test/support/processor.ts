// The time that work takes whatever else a machine does.

type Usage = { user: number; system: number };

/** Milliseconds of processor time of this process so far; those of the clock where a runtime does not tell. */
export function processorTime(): number {
  const { process } = globalThis as { process?: { cpuUsage?(): Usage } };
  const usage = process?.cpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}
