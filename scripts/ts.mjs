// Runs a TypeScript file under Node 20, which cannot: node scripts/ts.mjs FILE [arguments]. In a fresh clone it builds first.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const [file, ...rest] = process.argv.slice(2);
const builds = ["scripts/build.ts", "scripts/test.ts"].includes(file);
if (!builds && !existsSync("dist/index.js")) {
  const args = [process.argv[1], "scripts/build.ts"];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
const folder = resolve("node_modules/.cache/mlgpf");
mkdirSync(folder, { recursive: true });
const outfile = `${folder}/${basename(file, ".ts")}-${process.pid}.mjs`;
await build({
  entryPoints: [file],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "error",
  loader: { ".wgsl": "text" },
});
process.on("exit", () => rmSync(outfile, { force: true }));
process.argv = [process.argv[0], resolve(file), ...rest];
await import(pathToFileURL(outfile).href);
