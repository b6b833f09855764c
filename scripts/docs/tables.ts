// The tables of options in docs/options.md, between comments that name the table they are made from.

import { flagName } from "../../src/cli/flags.ts";
import { type AnyOption, defaultInWords, entriesOf } from "../../src/options/table.ts";
import { trainOptions } from "../../src/parts/options.ts";
import { runOptions } from "../../src/parts/run.ts";
import { advice } from "./advice.ts";

export const OPTIONS = "docs/options.md";

const tables: Record<string, object> = {
  "src/parts/options.ts": trainOptions,
  "src/parts/run.ts": runOptions,
};

const cell = (text: string): string => text.replaceAll("|", "\\|");

function row([name, option]: [string, AnyOption]): string {
  const { symbol, meaning } = option;
  const more = (advice as Record<string, string | undefined>)[name];
  const flag = `\`--${option.kind === "switch" ? "[no-]" : ""}${flagName(name, option)}\``;
  const what = `${meaning}${symbol === undefined ? "" : ` (${symbol})`}${more === undefined ? "" : `. ${more}`}`;
  return `| ${flag} | ${cell(defaultInWords(option))} | ${cell(what)} |`;
}

const written = (table: object): string =>
  ["| option | default | what it is, and when to change it |", "|---|---|---|", ...entriesOf(table).map(row)].join(
    "\n",
  );

/** The page with its tables as the source has them. */
export function withTables(page: string): string {
  return page.replace(
    /<!-- made from (\S+) by npm run docs -->\n[\s\S]*?\n<!-- end -->/g,
    (_, file: string) =>
      `<!-- made from ${file} by npm run docs -->\n\n${written(tables[file] as object)}\n\n<!-- end -->`,
  );
}
