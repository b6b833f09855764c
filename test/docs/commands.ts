// Commands in the documents: fences of `console`, a command behind each `$`, what it prints below it.

import { readFileSync } from "node:fs";

export interface Shown {
  command: string;
  /** Lines it prints, in their order; `...` stands for any number of others. */
  output: string[];
}

/** The commands of a document, in their order. */
export function commandsOf(document: string): Shown[] {
  const fences = [...readFileSync(document, "utf8").matchAll(/^```console\n(.*?)^```$/gms)];
  return fences.flatMap(([, text = ""]) => {
    const shown: Shown[] = [];
    for (const line of text.trimEnd().split("\n")) {
      const last = shown.at(-1);
      if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: [] });
      else if (last === undefined) throw new Error(`${document}: found ${line}, expected a command behind "$ "`);
      else if (last.command.endsWith("\\")) last.command = `${last.command.slice(0, -1)}${line.trim()}`;
      else last.output.push(line);
    }
    return shown;
  });
}

/** Times, sizes of files, ports and folders differ between runs; anything behind `...` may follow. */
export const patternOf = (line: string): RegExp => {
  const parts = line.split(/(\d+ min \d+ s|\d+(?:\.\d+)? (?:ms|s|[kM]B)\b|\.\.\.|…)/);
  const escaped = parts.map((part, i) =>
    i % 2 === 0
      ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      : /^(\.\.\.|…)$/.test(part)
        ? ".*"
        : "\\d+(?:\\.\\d+)?(?: min \\d+)? (?:ms|s|[kM]B)",
  );
  return new RegExp(`^${escaped.join("")}$`);
};

/** Lines that were promised and did not come, in their order. */
export function missingLines(expected: readonly string[], printed: readonly string[]): string[] {
  let next = 0;
  return expected.filter((line) => {
    if (line.trim() === "..." || line.trim() === "") return false;
    const pattern = patternOf(line);
    const at = printed.findIndex((each, i) => i >= next && pattern.test(each.trimEnd()));
    if (at >= 0) next = at + 1;
    return at < 0;
  });
}
