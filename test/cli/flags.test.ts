// Arguments as people type them, and what is said of those that cannot be.

import { describe, expect, test } from "vitest";
import { type Flags, flagHelp, parseFlags, UsageError } from "../../src/cli/flags.ts";

const flags: Flags = {
  out: { kind: "text", help: "where it goes" },
  top: { kind: "whole", from: 1, help: "how many", default: "5" },
  weight: { kind: "number", help: "of something" },
  format: { kind: "choice", choices: ["csv", "json"], help: "what it is written as" },
  text: { kind: "text", repeat: true, help: "a column" },
  wait: { kind: "whole", from: 1, bare: "3", help: "how long" },
  quiet: { kind: "switch", help: "say nothing" },
  fast: { kind: "switch", negatable: true, help: "hurry" },
};
const parse = (...args: string[]): ReturnType<typeof parseFlags> => parseFlags(args, flags, "mlgpf try");

describe("arguments", () => {
  test("are values of flags, with a blank or with =, and the others in their order", () => {
    const parsed = parse(
      "a",
      "--out",
      "x=y",
      "--top=7",
      "b",
      "--weight",
      "-1.5",
      "--quiet",
      "-",
      "--",
      "--c",
    );
    expect(parsed.positional).toEqual(["a", "b", "-", "--c"]);
    expect(parsed.text("out")).toBe("x=y");
    expect(parsed.number("top")).toBe(7);
    expect(parsed.number("weight")).toBe(-1.5);
    expect([parsed.on("quiet"), parsed.on("fast"), parsed.value("fast")]).toEqual([true, false, undefined]);
    expect(parsed.text("format")).toBeUndefined();
  });

  test("may be repeated where all of them count, and switched off", () => {
    expect(parse("--text", "title", "--text=body").all("text")).toEqual(["title", "body"]);
    expect(parse("--no-fast").value("fast")).toBe(false);
    expect(parse("--no-fast", "--fast").value("fast")).toBe(true);
  });

  test("of a flag that may stand alone are numbers", () => {
    expect(parse("--wait", "file").number("wait")).toBe(3);
    expect(parse("--wait", "file").positional).toEqual(["file"]);
    expect(parse("--wait", "9", "file").number("wait")).toBe(9);
    expect(parse("--wait=4").number("wait")).toBe(4);
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
    [["--top", "0"], "--top: found 0, expected a whole number of at least 1"],
    [["--top", "many"], "--top: found many, expected a number"],
    [["--format", "xml"], "--format: found xml, expected csv or json"],
  ];
  for (const [args, message] of wrong)
    test(`${args.join(" ")} is refused`, () => expect(() => parse(...args)).toThrow(new UsageError(message)));
});

test("the help has a line for each flag, wrapped to the width", () => {
  const lines = flagHelp(flags, 60).split("\n");
  expect(lines).toContain("  --top N        how many (default: 5)");
  expect(lines).toContain("  --[no-]fast    hurry");
  expect(lines).toContain("  --wait [N]     how long");
  expect(lines).toContain("  --format NAME  what it is written as: csv or json");
  expect(
    Math.max(
      ...flagHelp(flags, 40)
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThan(49);
});
