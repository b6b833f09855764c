// Lists of labels for --allow and --deny: a file with a label on each line.

import { readWhole } from "../io/files.ts";
import type { LabelLists } from "../metrics/allowed.ts";
import type { Flags, Parsed } from "./flags.ts";

export const listFlags: Flags = {
  allow: { kind: "text", value: "FILE", help: "predict only the labels in this file, one on each line" },
  deny: { kind: "text", value: "FILE", help: "predict none of the labels in this file, one on each line" },
};

async function readList(path: string | undefined): Promise<string[] | undefined> {
  if (path === undefined) return undefined;
  const text = new TextDecoder().decode(await readWhole(path));
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

/** The lists that --allow and --deny name. */
export async function readLists(parsed: Parsed): Promise<LabelLists> {
  const [allow, deny] = await Promise.all([readList(parsed.text("allow")), readList(parsed.text("deny"))]);
  return { allow, deny };
}
