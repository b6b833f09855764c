// Runs a TypeScript file under Node 20, which cannot: node scripts/ts.mjs FILE [arguments].
import { mkdirSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const [file, ...rest] = process.argv.slice(2);
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
