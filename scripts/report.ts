// The style of every report and the page of the server as text, in src/generated.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

export async function buildReport(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ["src/report/style.css"],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    logLevel: "warning",
  });
  const style = (outputFiles[0]?.text ?? "").trim();
  if (/<\/style|<!--/i.test(style)) throw new Error("the report's style would end its own element");
  const text = `// The style of every report, made by scripts/report.ts.\nexport const style: string = ${JSON.stringify(style)};\n`;
  const page = readFileSync("src/serve/page.html", "utf8");
  mkdirSync("src/generated", { recursive: true });
  keep("src/generated/report.ts", text);
  keep(
    "src/generated/page.ts",
    `// The page of the server, made by scripts/report.ts.\nexport const page: string = ${JSON.stringify(page)};\n`,
  );
}

function keep(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
