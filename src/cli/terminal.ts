// What a person sees: a live line on a terminal, plain lines in a pipe, nothing with --quiet. Results go to standard
// output, everything else to standard error.

import process from "node:process";

export interface Terminal {
  /** A line that stays. */
  say(text: string): void;
  /** A line that the next one replaces; in a pipe it is printed now and then. */
  show(text: string, fraction?: number): void;
  /** Ends the live line. */
  done(): void;
}

const BAR = 24;
const PIPE_MILLISECONDS = 5000;

export function terminal(quiet: boolean): Terminal {
  if (quiet) return { say: () => {}, show: () => {}, done: () => {} };
  const out = process.stderr;
  const live = out.isTTY === true;
  let open = false;
  let printed = performance.now();
  const clear = (): void => {
    if (open) out.write("\r\u001b[K");
    open = false;
  };
  return {
    say(text) {
      clear();
      out.write(`${text}\n`);
    },
    show(text, fraction) {
      if (live) {
        const filled = Math.round(BAR * Math.min(1, fraction ?? 0));
        const bar = fraction === undefined ? "" : `${"█".repeat(filled)}${"░".repeat(BAR - filled)} `;
        const line = `${bar}${text}`;
        out.write(`\r\u001b[K${line.slice(0, Math.max(20, (out.columns || 80) - 1))}`);
        open = true;
      } else if (performance.now() - printed > PIPE_MILLISECONDS) {
        printed = performance.now();
        out.write(`${text}\n`);
      }
    },
    done() {
      if (open) out.write("\n");
      open = false;
    },
  };
}

/** 75 -> "1 min 15 s" */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
