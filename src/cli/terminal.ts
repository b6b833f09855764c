// Messages: a live line on a terminal, plain lines in a pipe, nothing with --quiet. Results go to standard
// output, everything else to standard error.

import process from "node:process";
import { clean } from "../base/errors.ts";

export interface Terminal {
  /** A line that stays. */
  say(text: string): void;
  /** A line, or parts of one, most useful first, that the next one replaces; in a pipe it is printed now and then. */
  show(text: string | readonly string[], fraction?: number): void;
  done(): void;
}

/** Length of the bar on a wide and on a narrow terminal. */
const BARS = [24, 10];
const WIDE = 110;
const PIPE_MILLISECONDS = 5000;
const GAP = "  ";

/** A bar, where there is a fraction, and as many of the parts as there is room for. */
export function fittedLine(parts: readonly string[], fraction: number | undefined, columns: number): string {
  const length = columns >= WIDE ? BARS[0] : BARS[1];
  const filled = Math.round(length * Math.min(1, Math.max(0, fraction ?? 0)));
  const bar = fraction === undefined ? "" : `${"█".repeat(filled)}${"░".repeat(length - filled)} `;
  let count = parts.length;
  const line = (): string => bar + parts.slice(0, count).join(GAP);
  while (count > 1 && line().length > columns) count--;
  return line().slice(0, columns);
}

export function terminal(quiet: boolean): Terminal {
  if (quiet) return { say: () => {}, show: () => {}, done: () => {} };
  const out = process.stderr;
  const live = out.isTTY === true;
  const write = (text: string): void => {
    try {
      out.write(text);
    } catch {
      // Where standard error has no events (Deno) a failed write is thrown; it does not end the work.
    }
  };
  let open = false;
  let printed = performance.now();
  const clear = (): void => {
    if (open) write("\r\u001b[K");
    open = false;
  };
  return {
    say(text) {
      clear();
      write(`${clean(text)}\n`);
    },
    show(text, fraction) {
      const parts = (typeof text === "string" ? [text] : text).map(clean);
      if (live) {
        // A line as long as the terminal would go on to the next.
        write(`\r\u001b[K${fittedLine(parts, fraction, Math.max(20, (out.columns || 80) - 1))}`);
        open = true;
      } else if (performance.now() - printed > PIPE_MILLISECONDS) {
        printed = performance.now();
        write(`${parts.join(GAP)}\n`);
      }
    },
    done() {
      if (open) write("\n");
      open = false;
    },
  };
}

/** Lines to standard output, no faster than they are read; a terminal gets none of the control characters in names. */
export async function print(lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  for await (const line of lines)
    if (!stdout.write(`${stdout.isTTY ? clean(line) : line}\n`))
      await new Promise<void>((done) => stdout.once("drain", done));
}
