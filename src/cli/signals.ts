// Ctrl-C and SIGTERM: the work under way is asked to stop and may keep what it has; a second signal ends at once.

import { constants } from "node:os";
import process from "node:process";

type SignalName = "SIGINT" | "SIGTERM";

/** As shells have it. */
const exitCode = (name: SignalName): number => 128 + constants.signals[name];

/** A command that was stopped by a signal. */
export class Stopped extends Error {
  override name = "Stopped";
  readonly exitCode: number;
  constructor(message: string, signal: SignalName) {
    super(message);
    this.exitCode = exitCode(signal);
  }
}

export interface Watch {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The signal that came. */
  readonly came: SignalName | undefined;
  end(): void;
}

/** Watches for signals until it is ended. */
export function watchSignals(): Watch {
  const abort = new AbortController();
  let came: SignalName | undefined;
  const hear = (name: SignalName) => (): void => {
    if (came !== undefined) process.exit(exitCode(name));
    came = name;
    abort.abort();
  };
  const heard = { SIGINT: hear("SIGINT"), SIGTERM: hear("SIGTERM") };
  process.on("SIGINT", heard.SIGINT);
  process.on("SIGTERM", heard.SIGTERM);
  return {
    signal: abort.signal,
    get came() {
      return came;
    },
    end() {
      process.removeListener("SIGINT", heard.SIGINT);
      process.removeListener("SIGTERM", heard.SIGTERM);
    },
  };
}
