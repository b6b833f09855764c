// The rooms of src/ import what the table of ARCHITECTURE.md says, and nothing imports in a circle.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faultsOf, graphOf, roomsOf } from "./rooms.ts";

function sourcesUnder(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts"));
  return new Map(files.map((path) => [path, readFileSync(path, "utf8")]));
}

describe("rooms", () => {
  test("src/ is as ARCHITECTURE.md has it", () => {
    const sources = sourcesUnder("src");
    const rooms = roomsOf(readFileSync("ARCHITECTURE.md", "utf8"));
    // The readers of the table and of imports see what is there.
    expect(rooms.map(({ name }) => name)).toContain("index.ts");
    expect(graphOf(sources).get("src/index.ts")).toContain("src/train/train.ts");
    expect(faultsOf(rooms, sources)).toEqual([]);
  });

  const table = "| `src/low/` | x | nothing |\n| `src/high/` | y | `low`, `node:` |\n";
  const faultsWith = (changed: Record<string, string>, rows = table): string[] => {
    const sources = { "src/low/a.ts": "", "src/high/b.ts": `import "../low/a.ts";\nimport "node:fs";` };
    return faultsOf(roomsOf(rows), new Map(Object.entries({ ...sources, ...changed })));
  };

  test("what is allowed is no fault", () => {
    expect(faultsWith({})).toEqual([]);
    expect(faultsWith({ "src/low/c.ts": `// import "../high/b.ts"\nimport { a } from "./a.ts";` })).toEqual([]);
    const file = "| `src/low/` | x | nothing |\n| `src/high/` | y | `low/a`, `node:` |\n";
    expect(faultsWith({}, file)).toEqual([]);
  });

  const wrong: [text: string, imported: string][] = [
    [`import type { B } from "../high/b.ts";`, "src/high/b.ts"],
    [`const b = await import("../high/b.ts");`, "src/high/b.ts"],
    [`export {\n  b,\n} from "../high/b.ts";`, "src/high/b.ts"],
    [`import fs from "node:fs";`, "node:fs"],
    [`import plot from "uplot";`, "uplot"],
  ];
  for (const [text, imported] of wrong)
    test(`an import that is not allowed: ${text.replaceAll("\n", " ")}`, () => {
      expect(faultsWith({ "src/low/c.ts": text })).toEqual([
        `src/low/c.ts imports ${imported}, but ARCHITECTURE.md lets low import only nothing`,
      ]);
    });

  test("a file of a room of which only another file may be imported", () => {
    const rows = "| `src/low/` | x | nothing |\n| `src/high/` | y | `low/a`, `node:` |\n";
    const faults = faultsWith({ "src/low/c.ts": "", "src/high/d.ts": `import "../low/c.ts";` }, rows);
    expect(faults).toEqual([expect.stringContaining("src/high/d.ts imports src/low/c.ts")]);
  });

  test("a room that is not in the table, a row without a room, an entry without a use", () => {
    expect(faultsWith({ "src/other/c.ts": "" })).toEqual([expect.stringContaining("src/other/c.ts is in a")]);
    const more = `${table}| \`src/gone/\` | z | nothing |\n`;
    expect(faultsWith({}, more)).toEqual([expect.stringContaining("a room src/gone, which is not there")]);
    expect(faultsWith({ "src/high/b.ts": `import "node:fs";` })).toEqual([
      expect.stringContaining("lets high import low, which no file of it does"),
    ]);
  });

  test("rooms and files in a circle", () => {
    const rows = "| `src/low/` | x | `high` |\n| `src/high/` | y | `low`, `node:` |\n";
    expect(faultsWith({ "src/low/a.ts": `import "../high/e.ts";`, "src/high/e.ts": "" }, rows)).toEqual([
      expect.stringContaining("lets low import high, expected only rooms above it"),
    ]);
    const circle = { "src/low/c.ts": `import "./d.ts";`, "src/low/d.ts": `import "./c.ts";` };
    expect(faultsWith(circle)).toEqual([
      expect.stringContaining("in a circle: src/low/c.ts -> src/low/d.ts -> src/low/c.ts"),
    ]);
  });
});
