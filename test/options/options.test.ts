// Tables of options: every kind refuses what it does not take and says what it takes; defaults may depend on one another;
// the nearest name is suggested.

import { describe, expect, test } from "vitest";
import { checked, fromText, type Kind, listed } from "../../src/options/kinds.ts";
import { nearest } from "../../src/options/nearest.ts";
import { completeTable, type OptionTable } from "../../src/options/table.ts";

describe("a kind", () => {
  const pick: Kind = { kind: "choice", choices: ["red", "blue"], also: { azure: "blue" } };
  const taken: [kind: Kind, typed: string, value: unknown][] = [
    [{ kind: "text" }, "12", "12"],
    [{ kind: "number" }, "-1.5e3", -1500],
    [{ kind: "number", from: 0, to: 1 }, "1", 1],
    [{ kind: "whole", from: 1, word: "all" }, "7", 7],
    [{ kind: "whole", from: 1, word: "all" }, "all", "all"],
    [pick, "red", "red"],
    [pick, "azure", "blue"],
    [{ kind: "words", words: { yes: true, no: false } }, "no", false],
  ];
  for (const [kind, typed, value] of taken)
    test(`takes ${typed} as ${kind.kind}`, () =>
      expect(checked(kind, "x", fromText(kind, "x", typed), undefined)).toBe(value));

  const wrong: [kind: Kind, value: unknown, message: string][] = [
    [{ kind: "switch" }, "yes", "x: found yes, expected true or false"],
    [{ kind: "number" }, Number.NaN, "x: found NaN, expected a finite number"],
    [{ kind: "number", from: 2 }, 1, "x: found 1, expected a number of at least 2"],
    [{ kind: "number", above: 0 }, 0, "x: found 0, expected a number above 0"],
    [{ kind: "number", from: 0, to: 1 }, -1, "x: found -1, expected a number from 0 to 1"],
    [{ kind: "number", above: 0, to: 1 }, 2, "x: found 2, expected a number above 0 and at most 1"],
    [{ kind: "whole", from: 1 }, 1.5, "x: found 1.5, expected a whole number of at least 1"],
    [{ kind: "whole", from: 1, to: 9, word: "all" }, 10, "x: found 10, expected all or a whole number from 1 to 9"],
    [{ kind: "whole", to: () => 3 }, 4, "x: found 4, expected a whole number from 0 to 3"],
    [pick, "green", "x: found green, expected red or blue"],
    [pick, "toString", "x: found toString, expected red or blue"],
    [{ kind: "words", words: { yes: true, no: false } }, "yes", "x: found yes, expected true or false"],
  ];
  for (const [kind, value, message] of wrong)
    test(`${kind.kind} says: ${message}`, () =>
      expect(() => checked(kind, "x", value, undefined)).toThrow(new RegExp(`^${message}$`)));

  test("says what cannot be typed", () => {
    expect(() => fromText({ kind: "number" }, "--x", "many")).toThrow("--x: found many, expected a number");
    expect(() => fromText({ kind: "whole", word: "all" }, "--x", "")).toThrow("--x: found , expected all or a number");
    expect(() => fromText({ kind: "words", words: { yes: 1, no: 0, auto: 2 } }, "--x", "1")).toThrow(
      "--x: found 1, expected yes, no or auto",
    );
  });

  test("lists words", () => {
    expect([listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])]).toEqual([
      "",
      "a",
      "a or b",
      "a, b or c",
    ]);
  });
});

describe("a table", () => {
  interface Given {
    size?: number;
    name?: "long" | "short";
  }
  type Full = { size: number; name: "long" | "short" };
  const table: OptionTable<Given, Full, { rows: number } & Full> = {
    // Asks for an option that stands after it.
    size: {
      kind: "whole",
      from: 1,
      to: ({ rows }) => rows,
      default: { words: "by the name", of: ({ name }) => (name === "long" ? 9 : 2) },
      meaning: "size",
    },
    name: {
      kind: "choice",
      choices: ["long", "short"],
      default: { words: "long for many rows", of: ({ rows }) => (rows > 5 ? "long" : "short") },
      meaning: "name",
      refuse: (name, { rows }) => (name === "long" && rows < 3 ? "short" : undefined),
    },
  };

  test("fills in defaults that depend on the data and on other options, in its own order", () => {
    const filled = completeTable(table, {}, { rows: 10 });
    expect(filled).toEqual({ size: 9, name: "long" });
    expect(Object.keys(filled)).toEqual(["size", "name"]);
    expect(completeTable(table, { name: "short" }, { rows: 10 })).toEqual({ size: 2, name: "short" });
  });

  test("refuses by name", () => {
    const complete =
      (given: unknown, rows = 10) =>
      () =>
        completeTable(table, given as Given, { rows });
    expect(complete({ size: 11 })).toThrow("size: found 11, expected a whole number from 1 to 10");
    expect(complete({ size: null })).toThrow("size: found null, expected");
    expect(complete({ name: "long" }, 2)).toThrow("name: found long, expected short");
  });
});

describe("the compiler", () => {
  interface Given {
    size?: number;
    fast?: boolean;
  }
  type Table = OptionTable<Given, Required<Given>, Required<Given>>;
  const size: Table["size"] = { kind: "whole", default: 1, meaning: "size" };
  const fast: Table["fast"] = { kind: "switch", default: false, meaning: "fast" };

  test("holds a table and its type together", () => {
    const whole: Table = { size, fast };
    // @ts-expect-error an option without an entry
    const lacking: Table = { size };
    // @ts-expect-error an entry without an option
    const surplus: Table = { size, fast, slow: fast };
    // @ts-expect-error an entry that takes something else
    const other: Table = { size: fast, fast };
    expect([whole, lacking, surplus, other].length).toBe(4);
  });
});

describe("the nearest name", () => {
  const names = ["epochs", "learning-rate", "kl-warmup", "kl-weight", "out", "seed"];
  const meant: [string, string | undefined][] = [
    ["epoch", "epochs"],
    ["epohcs", "epochs"],
    ["Seed", "seed"],
    ["learningrate", "learning-rate"],
    ["learn", "learning-rate"],
    ["lr", "learning-rate"],
    ["klwarmup", "kl-warmup"],
    ["colour", undefined],
    ["x", undefined],
  ];
  for (const [found, name] of meant) test(`of ${found} is ${name}`, () => expect(nearest(found, names)).toBe(name));
});
