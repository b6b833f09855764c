// Bundles what goes into every report, its script with uPlot and its style, as text into src/generated/report.ts.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const OUT = "src/generated/report.ts";

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
  return (outputFiles[0]?.text ?? "").trim();
}

/** uPlot's licence asks to go where its code goes. */
function notice(): string {
  const { version } = JSON.parse(readFileSync("node_modules/uplot/package.json", "utf8"));
  return `/* uPlot ${version}. ${readFileSync("node_modules/uplot/LICENSE", "utf8").trim()} */\n`;
}

export async function buildReport(): Promise<void> {
  const script = `${notice()}${await bundle("src/report/client.ts")}`;
  const style = `${readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8").trim()}${await bundle("src/report/style.css")}`;
  if (/<\/(script|style)|<!--/i.test(script + style))
    throw new Error("the report's script or style would end its own element");
  const digest = createHash("sha256").update(script).digest("base64");
  const text = [
    "// What goes into every report, made by scripts/report.ts.",
    `export const script: string = ${JSON.stringify(script)};`,
    `export const scriptDigest: string = ${JSON.stringify(digest)};`,
    `export const style: string = ${JSON.stringify(style)};`,
    "",
  ].join("\n");
  mkdirSync("src/generated", { recursive: true });
  if (!existsSync(OUT) || readFileSync(OUT, "utf8") !== text) writeFileSync(OUT, text);
}
