// Lists of labels for --allow and --deny: a file with a label on each line.

import { readWhole } from "../io/files.ts";
import { allowedLabels, type LabelLists } from "../metrics/allowed.ts";
import { type Flags, type Parsed, UsageError } from "./flags.ts";

export const listFlags: Flags = {
  allow: { kind: "text", value: "FILE", help: "predict only the labels in this file, one on each line" },
  deny: { kind: "text", value: "FILE", help: "predict none of the labels in this file, one on each line" },
};

async function readList(path: string | undefined): Promise<string[] | undefined> {
  if (path === undefined) return undefined;
  const text = new TextDecoder().decode(await readWhole(path));
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Which labels of a model may come; refuses lists that leave none of them. */
export function allowedBy(names: ArrayLike<string | number>, lists: LabelLists): Uint8Array | undefined {
  const allowed = allowedLabels(names, lists);
  if (allowed && !allowed.includes(1))
    throw new UsageError(
      `--allow and --deny: found lists that leave none of the model's ${names.length} labels, expected at least one ` +
        `(the first is ${names[0]})`,
    );
  return allowed;
}

/** The lists that --allow and --deny name. */
export async function readLists(parsed: Parsed): Promise<LabelLists> {
  const [allow, deny] = await Promise.all([readList(parsed.text("allow")), readList(parsed.text("deny"))]);
  return { allow, deny };
}
