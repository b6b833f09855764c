// Labels as columns of their own, with a 1 in the rows that have them.

import { excerpt } from "../errors.ts";
import type { Intake } from "../intake.ts";
import { listOf } from "./keys.ts";

const YES = /^(?:1|1\.0|true|yes|x)$/i;
const NO = /^(?:|0|0\.0|false|no|null)$/i;

export class OneHot {
  readonly #intake: Intake;
  readonly #patterns: readonly RegExp[];

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#patterns = listOf(intake.options.oneHot ?? []).map(patternOf);
  }

  /** Whether any columns were named. */
  get wanted(): boolean {
    return this.#patterns.length > 0;
  }

  /** Whether a column is a label. */
  has(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(name));
  }

  /** Adds the label of a column to the row being built, if its value says so. */
  add(name: string, value: unknown, line: number): void {
    const written = String(value ?? "").trim();
    if (YES.test(written)) this.#intake.labelByName(name, line);
    else if (!NO.test(written)) {
      const found = `${excerpt(written)} in column ${excerpt(name)}`;
      this.#intake.fail(line, "not a label", found, `0 or 1 (${this.#intake.option("oneHot")})`);
    }
  }
}

/** A name, in which `*` stands for anything. */
function patternOf(name: string): RegExp {
  const parts = name.split("*").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i");
}
