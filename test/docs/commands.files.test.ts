// Every command of the README and of docs/ runs, page by page in a folder of its own, and prints what the page says it prints.
// @module-tag long

import { execFile, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sampleLines } from "../../site/tools/sample.ts";
import { compactModel } from "../../src/compact/index.ts";
import { saveModel, stateToBytes, train } from "../../src/index.ts";
import { documents, freePort, subjects } from "../examples/support.ts";
import { commandsOf, missingLines, type Shown } from "./commands.ts";

const run = promisify(execFile);
const DEFINITIONS = "examples/wordnet/definitions.jsonl.gz";
/** Installing, and what other programs do, is not ours to test here. */
const OTHERS = /^(npm |npx jsr|deno |bun |annif |git |mpiexec |docker |python|pip |for )/;

/** Files that pages speak of: small ones, a model of them with its state, and the definitions. */
async function filesFor(folder: string): Promise<void> {
  const rows = documents().split("\n");
  const texts = rows.slice(0, 12).map((line) => (JSON.parse(line) as { text: string }).text);
  const csv = (lines: string[][]): string =>
    `${lines.map((cells) => cells.map((c) => `"${c}"`).join(",")).join("\n")}\n`;
  const withIds = rows.map((line, i) => JSON.stringify({ id: `d${i}`, ...JSON.parse(line) }));
  const small: Record<string, string> = {
    "docs.jsonl": withIds.slice(0, 120).join("\n"),
    "test.jsonl": rows.slice(120).join("\n"),
    "more.jsonl": withIds.slice(120).join("\n"),
    "new.jsonl": texts.map((text, i) => JSON.stringify({ id: `n${i}`, text })).join("\n"),
    "new.csv": csv([["id", "text"], ...texts.map((text, i) => [`n${i}`, text])]),
    "gone.csv": csv([["id"], ["d3"], ["d4"]]),
    "allowed.txt": `${Object.keys(subjects).slice(0, 3).join("\n")}\n`,
    "embed.js": "export const embed = async (texts) => texts.map((text) => [text.length, /a/.test(text) ? 1 : 0, 1]);",
    "note.txt": `${texts[1]}\n`,
  };
  for (const [name, text] of Object.entries(small)) writeFileSync(join(folder, name), text);
  cpSync(DEFINITIONS, join(folder, "definitions.jsonl.gz"));
  const model = await train(join(folder, "docs.jsonl"), {
    threads: 1,
    onState: (state) => writeFileSync(join(folder, "tagger.state"), stateToBytes(state)),
  });
  await saveModel(model, join(folder, "tagger.safetensors"));
  writeFileSync(join(folder, "tagger.bin"), await compactModel(model));
}

/** `mlgpf` and `npx mlgpf` as an installation gives them. */
function pathWithCommand(folder: string): string {
  const bin = join(folder, ".bin");
  mkdirSync(bin);
  const cli = resolve("dist/cli.js");
  writeFileSync(join(bin, "mlgpf"), `#!/bin/sh\nexec ${process.execPath} ${cli} "$@"\n`);
  writeFileSync(join(bin, "npx"), `#!/bin/sh\nshift\nexec ${process.execPath} ${cli} "$@"\n`);
  for (const name of ["mlgpf", "npx"]) chmodSync(join(bin, name), 0o755);
  return `${bin}${delimiter}${process.env.PATH}`;
}

/** Starts a server and waits until it says where it listens. */
function started(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<() => void> {
  const child = spawn("bash", ["-c", `exec ${command}`], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((done, fail) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      said += chunk;
      if (/http:\/\//.test(said)) done(() => child.kill());
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => fail(new Error(`${command}: found its end, expected a server: ${said}`)));
  });
}

const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
const shown = ["README.md", ...pages.map((name) => `docs/${name}`)]
  .map((page): [string, Shown[]] => [page, commandsOf(page).filter(({ command }) => !OTHERS.test(command))])
  .filter(([, commands]) => commands.length > 0);

test.each(shown)("%s: commands print what the page says", { timeout: 900_000 }, async (_, commands) => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-commands-"));
  const servers: (() => void)[] = [];
  try {
    await filesFor(folder);
    const env = { ...process.env, PATH: pathWithCommand(folder), NO_COLOR: "1", COLUMNS: "200" };
    const port = await freePort();
    for (const { command: said, output } of commands) {
      // A page serves on 8080, which may be taken here.
      const command = said
        .replaceAll("localhost:8080", `localhost:${port}`)
        .replace(/ serve /, ` serve --port ${port} `);
      if (command.endsWith("&")) {
        servers.push(await started(command.slice(0, -1), folder, env));
        continue;
      }
      const { stdout, stderr } = await run("bash", ["-o", "pipefail", "-c", command], { cwd: folder, env }).catch(
        (error) => {
          throw new Error(`${command}: ${error.stderr || error.message}`);
        },
      );
      const missing = missingLines(output, `${stderr}\n${stdout}`.split("\n"));
      if (missing.length > 0) throw new Error(`${command}\nfound\n${stderr}${stdout}\nexpected\n${missing.join("\n")}`);
    }
  } finally {
    for (const stop of servers) stop();
    rmSync(folder, { recursive: true });
  }
});

test("pages with commands are found, and a line that does not come is told", () => {
  expect(shown.length).toBeGreaterThan(5);
  expect(missingLines(["a 3 s", "...", "b"], ["x", "a 12 s", "b"])).toEqual([]);
  expect(missingLines(["b", "a"], ["a", "b"])).toEqual(["a"]);
  expect(missingLines(["P@1 86.0"], ["P@1 86.1"])).toEqual(["P@1 86.0"]);
});

test("no command stands outside of a fence that is tested", () => {
  const loose = ["README.md", ...pages.map((name) => `docs/${name}`)].flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/^ {4}(?:npx )?mlgpf .*$/gm)].map(([line]) => `${page}: ${line.trim()}`),
  );
  expect(loose).toEqual([]);
});

test("the definitions are those of WordNet", () => {
  const lines = gunzipSync(readFileSync(DEFINITIONS)).toString().trimEnd().split("\n");
  expect(lines).toEqual(sampleLines().slice(0, lines.length));
});
