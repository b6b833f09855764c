// Files, folders and functions that the documents for contributors name are there.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const maths = ["docs/maths.md", "docs/maths-regression.md", "docs/maths-calibrator.md"];
const documents = ["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "shaders/README.md", ...maths];
/** Three screens of prose, tables and code. */
const MOST_WORDS = 1800;
const folders = ["assembly", "bench", "docs", "examples", "scripts", "shaders", "site", "src", "test"];
/** A path in backquotes: of a source file, or of a folder, which ends with a stroke. */
const NAMED = /`([\w.-]+(?:\/[\w.-]+)*(?:\.(?:ts|mjs|wgsl|css|md)|\/))`/g;
/** Made by the build, not part of the repository. */
const MADE = ["dist/", "build/"];

/** An equation of the maths with the file and the functions that compute it. */
const EQUATION = /^ {4,}\S.*?(?:\s{2,}# ([\w./]+\.ts) (\w+(?:, \w+)*))?$/;

test("every equation stands beside functions that are there", () => {
  const lines = maths.flatMap((page) => readFileSync(page, "utf8").split("\n"));
  const equations = lines.filter((line) => EQUATION.test(line));
  const faults = equations.filter((line) => {
    const [, file, names] = EQUATION.exec(line) as RegExpExecArray;
    const path = [`src/${file}`, `src/parts/${file}`].find((each) => existsSync(each));
    const text = path === undefined ? "" : readFileSync(path, "utf8");
    return !names?.split(", ").every((name) => new RegExp(`\\b${name}\\b`).test(text));
  });
  expect(equations.length).toBeGreaterThan(60);
  expect(faults).toEqual([]);
});

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

/** Links of a document to other files, without addresses and places within a page. */
const linksOf = (document: string): string[] =>
  [...readFileSync(document, "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link.replace(/#.*/, ""))
    .filter((link) => link !== "" && !link.includes(":"));

test("links lead to files that are there", () => {
  const top = readdirSync(".").filter((name) => name.endsWith(".md"));
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const all = [...top, ...pages.map((name) => `docs/${name}`), "examples/README.md"];
  const broken = all.flatMap((document) =>
    linksOf(document)
      .filter((link) => !existsSync(join(dirname(document), link)))
      .map((link) => `${document} links to ${link}, which is not there`),
  );
  expect(broken).toEqual([]);
  const index = linksOf("docs/README.md");
  expect(pages.filter((name) => !["README.md", "release.md", ...index].includes(name))).toEqual([]);
});

test("no page of docs/ is longer than three screens", () => {
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  const long = pages.filter((name) => readFileSync(`docs/${name}`, "utf8").split(/\s+/).length > MOST_WORDS);
  expect(long).toEqual([]);
});
