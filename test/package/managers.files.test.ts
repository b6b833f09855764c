// The packed package in a stranger's project, by each package manager: installed, found by its name, its command run.
// @module-tag long

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, type Packed, pack } from "../../scripts/pack.ts";
import { tool } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "mlgpf-managers-"));
let packed: Packed;
beforeAll(async () => {
  packed = await pack(folder);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const node = process.execPath;
const yarn = [node, resolve("node_modules/@yarnpkg/cli-dist/bin/yarn.js")];
// With CI=true yarn refuses to write the lock file of a new project unless it is told to.
const YARNRC = "enableNetwork: false\nenableTelemetry: false\nenableImmutableInstalls: false\n";
const pnpm = [node, resolve("node_modules/pnpm/bin/pnpm.cjs")];

/** Commands of a package manager: installing a project, and running a program that a package brings. */
const managers: Record<string, { install: string[]; run: string[]; files?: Record<string, string> }> = {
  npm: { install: ["npm", "install", "--offline", "--no-audit", "--no-fund"], run: ["npm", "exec", "--offline", "--"] },
  pnpm: { install: [...pnpm, "install", "--offline"], run: [...pnpm, "exec"] },
  "yarn, with node_modules": {
    install: [...yarn, "install"],
    run: [...yarn, "run"],
    files: { ".yarnrc.yml": `nodeLinker: node-modules\n${YARNRC}`, "yarn.lock": "" },
  },
  "yarn, plug'n'play": {
    install: [...yarn, "install"],
    run: [...yarn, "run"],
    files: { ".yarnrc.yml": `nodeLinker: pnp\n${YARNRC}`, "yarn.lock": "" },
  },
  bun: { install: [tool("bun"), "install"], run: [tool("bun"), "run"] },
};

const PROGRAM = `import { loadModel, train } from "mlgpf";
import { load } from "mlgpf/edge";
import { compactModel } from "mlgpf";
const rows = [["a wild cat", "animal"], ["a small wild cat", "animal"], ["a large tree", "plant"], ["an old tree", "plant"]];
const model = await train(rows.map(([text, label]) => ({ text, labels: [label] })), { threads: 1 });
const full = await loadModel(model, { threads: 1 });
const small = await load(await compactModel(model));
console.log(JSON.stringify([(await full.predict("a cat", { topK: 1 }))[0].label, small.predict("a tree", { topK: 1 })[0].label]));
full.dispose();
`;

describe("the package", () => {
  test.each(Object.entries(managers))("is installed and used by %s", async (name, { install, run, files = {} }) => {
    const project = join(folder, name.replace(/\W+/g, "-"));
    mkdirSync(project);
    const description = {
      name: "stranger",
      private: true,
      type: "module",
      dependencies: { mlgpf: `file:${packed.file}` },
    };
    for (const [path, content] of Object.entries({
      "package.json": JSON.stringify(description),
      "program.js": PROGRAM,
      ...files,
    }))
      writeFileSync(join(project, path), content);
    const ran = async ([command, ...args]: string[]): Promise<string> => (await execute(command, args, project)).out;
    await ran(install);
    expect(await ran([...run, "mlgpf", "--version"])).toMatch(/^(?:.*\n)*(?:mlgpf )?0\.1\.0/);
    const started = name.startsWith("yarn")
      ? [...yarn, "node", "program.js"]
      : name === "bun"
        ? [tool("bun"), "program.js"]
        : [node, "program.js"];
    expect(JSON.parse((await ran(started)).trim())).toEqual(["animal", "plant"]);
  });
});
