// The comment of an option, which an editor shows, names the default that the table has; docs/options.md has the tables; every
// option has a flag, and what is typed arrives as code would give it.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OPTIONS, withTables } from "../../scripts/docs/tables.ts";
import { parseFlags } from "../../src/cli/flags.ts";
import { type AnyOption, defaultInWords, entriesOf } from "../../src/options/table.ts";
import { trainOptions } from "../../src/parts/options.ts";
import { runOptions } from "../../src/parts/run.ts";

/** The default that each property of an interface has in its comment. */
function documented(file: string, name: string): Map<string, string | undefined> {
  const text = readFileSync(file, "utf8");
  const [, body = ""] = new RegExp(`export interface ${name}(?: extends .*)? {\n([\\s\\S]*?)\n}`).exec(text) ?? [];
  const members = body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*(\w+)\?:/g);
  return new Map(
    Array.from(members, ([, comment = "", key = ""]) => {
      const words = comment.replace(/\s*\n\s*\*?\s*/g, " ").trim();
      return [key, /Default: (.*)\.$/.exec(words)?.[1]];
    }),
  );
}

const places: [file: string, name: string, table: object][] = [
  ["src/parts/options.ts", "TrainOptions", trainOptions],
  ["src/parts/run.ts", "RunOptions", runOptions],
];

describe("the comments of", () => {
  for (const [file, name, table] of places)
    test(`${name} name the defaults`, () => {
      const comments = documented(file, name);
      const wanted = new Map(entriesOf(table).map(([key, option]) => [key, defaultInWords(option)]));
      expect(wanted.size).toBeGreaterThan(1);
      for (const [key, words] of wanted) expect([key, comments.get(key)]).toEqual([key, words]);
    });
});

test("the tables of docs/options.md are those of the source: npm run docs writes them", () => {
  const page = readFileSync(OPTIONS, "utf8");
  expect(withTables(page)).toBe(page);
  expect(page.match(/^\| `--(\[no-\])?kl-warmup` \| 0\.6 \|/m)).not.toBeNull();
});

type Range = { from?: number; to?: unknown };

/** A value that the option takes, as typed and as code has it. */
function example({ kind, ...option }: AnyOption): [typed: string[], value: unknown] {
  const { choices, words, ...range } = option as { choices?: string[]; words?: object } & Range;
  const most = typeof range.to === "number" ? range.to : Number.POSITIVE_INFINITY;
  const number = Math.min((range.from ?? 0) + 1, most);
  if (kind === "switch") return [[], true];
  if (kind === "choice") return [[choices?.at(-1) as string], choices?.at(-1)];
  if (kind === "words") return [[Object.keys(words ?? {})[0]], Object.values(words ?? {})[0]];
  return [[String(number)], number];
}

describe("every option has a flag", () => {
  const given = (...args: string[]): Record<string, unknown> => {
    const { of } = parseFlags(args, [trainOptions, runOptions]);
    return { ...of(trainOptions), ...of(runOptions) };
  };
  for (const [name, option] of [...entriesOf(trainOptions), ...entriesOf(runOptions)]) {
    test(name, () => {
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      const [typed, value] = example(option);
      const unit = (option.flag || undefined)?.unit ?? 1;
      expect(given(flag, ...typed)).toEqual({ [name]: unit === 1 ? value : (value as number) * unit });
      if (option.kind === "switch") expect(given(flag.replace("--", "--no-"))).toEqual({ [name]: false });
    });
  }

  test("names may be a file", () => {
    expect(given("--names", "names.tsv")).toEqual({ names: { file: "names.tsv" } });
    expect(given("--names", "off")).toEqual({ names: "off" });
  });
});
