// Every program of the README and of docs/ does what it says, in its own runtime, and has right types.
// @module-tag long

import { execFile } from "node:child_process";
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { modelToBytes, train } from "../../src/index.ts";
import { askProgram, bundle, documents, freePort, inProject } from "../examples/support.ts";
import { type Program, programsOf } from "./programs.ts";

const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
const programs = ["README.md", ...pages.map((name) => `docs/${name}`)].flatMap(programsOf);
const program = (name: string): string => resolve("node_modules/.bin", name);
const run = promisify(execFile);

let definitions: Promise<Uint8Array> | undefined;

/** The model of the README's command. */
const definitionsModel = (): Promise<Uint8Array> => {
  definitions ??= train("examples/wordnet/definitions.jsonl.gz", { validation: "10%" }).then(modelToBytes);
  return definitions;
};

/** Runs the body beside the program and the files that the documents speak of. */
const withFiles = (body: (folder: string) => Promise<void>): Promise<void> =>
  inProject("worker", async (folder) => {
    for (const name of ["docs.jsonl", "test.jsonl"]) writeFileSync(join(folder, name), documents());
    await body(folder);
  });

/**
 * What the comment behind a console.log says it prints, as a pattern: its words and numbers in their order. Numbers in documents
 * are cut off ("0.98..."), and runtimes quote and break lines as they like.
 */
const patternsOf = (text: string): RegExp[] =>
  [...text.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(
    ([, said = ""]) =>
      new RegExp((said.match(/\w+(?:\.\d+)?/g) ?? []).map((word) => word.replace(".", "\\.")).join("[^]*?")),
  );

async function inNode(folder: string, { text }: Program): Promise<void> {
  const { code } = await transform(text, { loader: "ts", target: "es2022", format: "esm" });
  writeFileSync(join(folder, "program.mjs"), code);
  for (const runtime of [process.execPath, program("bun")]) {
    const { stdout } = await run(runtime, ["program.mjs"], { cwd: folder });
    expect(stdout.length).toBeGreaterThan(20);
    for (const pattern of patternsOf(text)) expect(stdout).toMatch(pattern);
  }
}

async function inDeno(folder: string, { text }: Program): Promise<void> {
  // Through a link Deno takes the package for files of one's own.
  const installed = join(folder, "node_modules/mlgpf");
  rmSync(installed);
  for (const part of ["dist", "package.json"]) cpSync(part, join(installed, part), { recursive: true });
  writeFileSync(join(folder, "program.ts"), text);
  await run(program("deno"), ["check", "program.ts"], { cwd: folder });
  const port = await freePort();
  const place = `DENO_SERVE_ADDRESS=tcp:127.0.0.1:${port}`;
  const args = [place, program("deno"), "run", "--allow-net", "--allow-read", "program.ts"];
  // The one answers to texts, the other is the server itself.
  const handler = text.includes("createHandler");
  const headers = { "content-type": handler ? "application/json" : "text/plain" };
  const body = handler ? '{"text": "a lion"}' : "a lion";
  const answer = await askProgram(folder, port, "env", args, {
    path: handler ? "/predict" : "/",
    body,
    headers,
  });
  expect(JSON.stringify(answer)).toContain('"cats"');
}

async function inPage(folder: string, { text }: Program): Promise<void> {
  writeFileSync(join(folder, "program.ts"), text);
  await bundle(folder, { entryPoints: ["program.ts"], outfile: "out.js", format: "esm" });
  const types = { "/out.js": "text/javascript", "/tagger.bin": "application/octet-stream" };
  const server = createServer(({ url = "/" }, response) => {
    const type = types[url as keyof typeof types];
    response.setHeader("content-type", type ?? "text/html");
    response.end(type ? readFileSync(join(folder, url)) : '<body><script type="module" src="/out.js"></script>');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction(() => document.body.textContent?.includes('"probability"'));
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

async function inWorker(folder: string, { text }: Program): Promise<void> {
  writeFileSync(join(folder, "worker.ts"), text);
  const external = ["*.wasm", "*.bin"];
  await bundle(folder, { entryPoints: ["worker.ts"], outfile: "worker.js", format: "esm", external });
  copyFileSync("dist/edge.wasm", join(folder, "edge.wasm"));
  const port = await freePort();
  const args = ["serve", "worker.capnp", "--socket-addr", `http=127.0.0.1:${port}`];
  const answer = await askProgram(folder, port, program("workerd"), args);
  expect(JSON.stringify(answer)).toContain('"probability"');
}

describe("programs of the documents", () => {
  const inTheirs = { node: inNode, deno: inDeno, page: inPage, worker: inWorker };
  test.each(programs)("$name runs: $runtime", (each) =>
    withFiles(async (folder) => {
      if (each.name.startsWith("README")) writeFileSync(join(folder, "tagger.safetensors"), await definitionsModel());
      await inTheirs[each.runtime](folder, each);
    }),
  );

  test("there is one for each runtime, and the first is for Node", () => {
    expect(programs[0]?.runtime).toBe("node");
    expect(new Set(programs.map(({ runtime }) => runtime))).toEqual(new Set(Object.keys(inTheirs)));
  });

  test("have right types", () =>
    withFiles(async (folder) => {
      // Deno has checked its own.
      const others = programs.filter(({ runtime }) => runtime !== "deno");
      const files = others.map(({ text }, i) => {
        writeFileSync(join(folder, `program${i}.ts`), text);
        return `program${i}.ts`;
      });
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        target: "es2022",
        lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
        module: "esnext",
        moduleResolution: "bundler",
        types: ["node"],
        typeRoots: [resolve("node_modules/@types")],
        preserveSymlinks: true,
      };
      writeFileSync(
        join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: [...files, "modules.d.ts"] }),
      );
      const checked = await run(program("tsc"), ["-p", "."], { cwd: folder }).catch((error) => error);
      expect(checked.stdout).toBe("");
    }));
});
