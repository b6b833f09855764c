// The version stands in several files, and is the same in all of them.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { version } from "../../src/version.ts";

test("the version is the same everywhere", () => {
  const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const lock = json("package-lock.json");
  expect({
    "package.json": json("package.json").version,
    "package-lock.json": [lock.version, lock.packages[""].version],
    "deno.json": json("deno.json").version,
    "CITATION.cff": /^version: (.*)$/m.exec(readFileSync("CITATION.cff", "utf8"))?.[1],
  }).toEqual({
    "package.json": version,
    "package-lock.json": [version, version],
    "deno.json": version,
    "CITATION.cff": version,
  });
});
