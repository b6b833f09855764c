// Arguments as people type them, and what is said of those that cannot be.

import { describe, expect, test } from "vitest";
import { count, flagHelp, flagsOf, names, on, output, parseFlags, UsageError } from "../../src/cli/flags.ts";

const own = {
  out: output("FILE", "where it goes"),
  topLabels: count("how many", { default: "5" }),
  weight: { kind: "number", meaning: "of something" },
  format: { kind: "choice", choices: ["csv", "json"], meaning: "what it is written as" },
  text: names("NAME", "a column"),
  wait: count("how long", { bare: "3" }),
  quiet: on("say nothing"),
} as const;
/** A table of the library: its switches have defaults and can be switched off. */
const table = { fast: { kind: "switch", meaning: "hurry", default: false } };
const parse = (...args: string[]) => {
  const { positional, of } = parseFlags(args, [own, table], "mlgpf try");
  return { positional, given: of(own), fast: of(table).fast };
};

describe("arguments", () => {
  test("are values of flags, with a blank or with =, and the others in their order", () => {
    const typed = [..."a --out x=y --top-labels=7 b --weight -1.5 --quiet - -- --c".split(" ")];
    const { positional, given, fast } = parse(...typed);
    expect(positional).toEqual(["a", "b", "-", "--c"]);
    expect(given).toEqual({ out: "x=y", topLabels: 7, weight: -1.5, quiet: true });
    expect(fast).toBeUndefined();
  });

  test("may be repeated where all of them count, and switched off", () => {
    expect(parse("--text", "title", "--text=body").given.text).toEqual(["title", "body"]);
    expect(parse("--text", "title,body").given.text).toEqual(["title", "body"]);
    expect(parse("--no-fast").fast).toBe(false);
    expect(parse("--no-fast", "--fast").fast).toBe(true);
  });

  test("of a flag that may stand alone are numbers", () => {
    expect(parse("--wait", "file")).toMatchObject({ given: { wait: 3 }, positional: ["file"] });
    expect(parse("--wait", "9", "file").given.wait).toBe(9);
    expect(parse("--wait=4").given.wait).toBe(4);
  });

  const wrong: [args: string[], message: string][] = [
    [["--uot", "x"], "--uot: mlgpf try has no such option, did you mean --out?"],
    [["-q"], "-q: mlgpf try has no such option"],
    [["--no-quiet"], "--no-quiet: mlgpf try has no such option"],
    [["--toString"], "--toString: mlgpf try has no such option"],
    [["--out"], "--out: found nothing, expected a value"],
    [["--out", "--quiet"], "--out: found --quiet, expected a value"],
    [["--out", "a", "--out", "b"], "--out: found it twice, expected it once"],
    [["--quiet=yes"], "--quiet: found the value yes, expected none"],
    [["--top-labels", "0"], "--top-labels: found 0, expected a whole number of at least 1"],
    [["--top-labels", "many"], "--top-labels: found many, expected a number"],
    [["--format", "xml"], "--format: found xml, expected csv or json"],
  ];
  for (const [args, message] of wrong)
    test(`${args.join(" ")} is refused`, () => expect(() => parse(...args)).toThrow(new UsageError(message)));
});

test("the help has a line for each flag, wrapped to the width", () => {
  const flags = [...flagsOf(own), ...flagsOf(table)];
  const lines = flagHelp(flags, 60);
  expect(lines).toContain("  --top-labels N  how many (default: 5)");
  expect(lines).toContain("  --[no-]fast     hurry (default: no)");
  expect(lines).toContain("  --wait [N]      how long");
  expect(lines).toContain("  --format NAME   what it is written as: csv or json");
  const narrow = flagHelp(flags, 40).flatMap((line) => line.split("\n"));
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThan(50);
});
