// Files and folders that the documents for contributors name are there.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const documents = ["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "docs/maths.md", "shaders/README.md"];
const folders = ["assembly", "bench", "docs", "examples", "scripts", "shaders", "site", "src", "test"];
/** A path in backquotes: of a source file, or of a folder, which ends with a stroke. */
const NAMED = /`([\w.-]+(?:\/[\w.-]+)*(?:\.(?:ts|mjs|wgsl|css|md)|\/))`/g;
/** Made by the build, not part of the repository. */
const MADE = ["dist/", "build/"];

test("documents name files that are there", () => {
  const root = readdirSync(".", { withFileTypes: true }).filter((entry) => entry.isFile());
  const inside = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map(
      (entry) => `${entry.parentPath}/${entry.name}${entry.isDirectory() ? "/" : ""}`,
    ),
  );
  const paths = [...folders.map((name) => `${name}/`), ...root.map(({ name }) => name), ...inside, ...MADE];
  const isThere = (named: string): boolean => paths.some((path) => `/${path}`.endsWith(`/${named}`));
  expect(isThere("core/gemm.test.ts")).toBe(true);
  expect(isThere("ore/gemm.test.ts")).toBe(false);
  const missing = documents.flatMap((document) =>
    [...readFileSync(document, "utf8").matchAll(NAMED)]
      .map(([, named]) => named as string)
      .filter((named) => !isThere(named))
      .map((named) => `${document} names ${named}, which is not there`),
  );
  expect(missing).toEqual([]);
});
