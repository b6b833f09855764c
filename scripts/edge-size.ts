// The size of a worker with mlgpf/edge by Cloudflare's own tool: `node scripts/ts.mjs scripts/edge-size.ts` installs
// wrangler into node_modules/.cache once, bundles a worker and runs `wrangler deploy --dry-run`. Needs dist/ (npm run build).

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const WRANGLER = "4.86.0"; // the newest that runs on Node 20
const cache = resolve("node_modules/.cache/mlgpf/wrangler");
const project = `${cache}/worker`;

const WORKER = `import { load } from "${resolve("dist/edge.js")}";
import wasm from "./edge.wasm";
const tagger = (env) => load(() => env.ASSETS.fetch("https://assets/tagger.safetensors"), { wasm });
let loading;
export default {
  async fetch(request, env) {
    loading ??= tagger(env);
    return Response.json((await loading).predict(await request.text()));
  },
};
`;

function run(command: string, args: string[], cwd: string): void {
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: "inherit",
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "1" },
  });
  if (status !== 0) process.exit(status ?? 1);
}

mkdirSync(project, { recursive: true });
if (!existsSync(`${cache}/node_modules/wrangler`)) {
  writeFileSync(`${cache}/package.json`, '{ "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", `wrangler@${WRANGLER}`], cache);
}
writeFileSync(`${project}/worker.js`, WORKER);
copyFileSync("dist/edge.wasm", `${project}/edge.wasm`);
writeFileSync(
  `${project}/wrangler.json`,
  JSON.stringify({ name: "tagger", main: "worker.js", compatibility_date: "2026-01-01" }),
);
run(`${cache}/node_modules/.bin/wrangler`, ["deploy", "--dry-run", "--minify", "--outdir", "out"], project);
