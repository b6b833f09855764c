// Shared by the commands that read data or predict: options for reading, for the labels that may come and how probable they must
// be, and the shard of this process.

import process from "node:process";
import { excerpt } from "../base/errors.ts";
import { aims, allowedLabels, type LabelLists, type ThresholdChoice, thresholdWords } from "../base/prediction.ts";
import { labelsByName } from "../data/dataset.ts";
import { type ReadOptions, type ReadResult, readOptions } from "../data/options.ts";
import { tfidfOptions } from "../data/tfidfoptions.ts";
import { readDataset } from "../io/dataset.ts";
import { readWhole } from "../io/files.ts";
import { shownAddress, webAddress } from "../io/source.ts";
import type { Model } from "../model/model.ts";
import type { Choice, Real, Text } from "../options/kinds.ts";
import { didYouMean } from "../options/nearest.ts";
import type { Reading } from "../parts/schema.ts";
import { readingFor, refusing } from "../predict/reading.ts";
import { grouped } from "../report/numbers.ts";
import type { Shard } from "../train/plan.ts";
import type { Call } from "./command.ts";
import { type CommandOption, choice, type Given, kebab, real, text, UsageError } from "./flags.ts";
import { isCompact } from "./models.ts";
import { showReading } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

export const dataTables: { readonly Data: object } = { Data: readOptions };
export const textTables: { readonly Data: object; readonly Text: object } = { ...dataTables, Text: tfidfOptions };

/** How data are read, as it was typed; messages name options as they are typed. */
export const readChoices = ({ of }: Pick<Call<unknown>, "of">): ReadOptions => ({
  ...of(readOptions),
  nameOption: (option) => `--${kebab(option)}`,
});

/** The name of a file in messages. */
export function nameOf(path: string): string {
  const address = webAddress(path);
  return address ? shownAddress(address) : path === "-" ? "standard input" : path;
}

/** The part of a model that decides how data are read for it. */
export interface ReadFor {
  readonly schema: Reading;
  readonly parts?: Model["parts"];
}

interface ReadWanted extends ReadOptions {
  model?: ReadFor;
  /** Nothing is said of what is no error. */
  silent?: boolean;
}

/** Reads a data file, as a model expects it if one is given, and says what a person should know. */
export async function readData(
  path: string,
  call: Pick<Call<unknown>, "of" | "screen">,
  { model, silent, ...wanted }: ReadWanted = {},
): Promise<ReadResult> {
  const { screen } = call;
  const result = await readDataset(path, {
    ...readChoices(call),
    ...(model ? fromModel(model) : { tfidf: call.of(tfidfOptions) }),
    onProgress: showReading(screen, nameOf(path)),
    ...wanted,
  });
  if (!silent) sayNotes(nameOf(path), result, screen);
  if (model === undefined || !isCompact(model)) return result;
  return { ...result, dataset: labelsByName(result.dataset, model.schema.labelNames) };
}

type Said = Pick<ReadResult, "notes" | "skipped">;

export function sayNotes(name: string, { notes, skipped }: Said, screen: Terminal): void {
  for (const note of notes) screen.say(note);
  if (skipped.total === 0) return;
  const reasons = Object.entries(skipped.byReason).map(([reason, count]) => `${count} ${reason}`);
  const [rows, place] = skipped.total === 1 ? ["row", "in"] : ["rows", "the first in"];
  screen.say(
    `${name}: ${grouped(skipped.total)} ${rows} left out (${reasons.join(", ")}; ${place} line ${skipped.rows[0].line})`,
  );
}

export function fromModel(model: ReadFor): ReadOptions {
  const reading = readingFor(model.schema);
  if (!isCompact(model)) return { ...reading, ...(model.parts && refusing(model as Model)) };
  // A compact model knows its labels by name alone, numbers too: they are found when all is read.
  const { labelCount: _, labelNames: __, ...features } = reading;
  return features;
}

export const cutOptions: {
  readonly threshold: CommandOption<Real & { readonly words: typeof thresholdWords }>;
  readonly precision: CommandOption<Real>;
  readonly confidence: CommandOption<Real>;
  readonly recall: CommandOption<Real>;
  readonly for: CommandOption<Choice<(typeof aims)[number]>>;
} = {
  threshold: {
    kind: "number",
    words: thresholdWords,
    from: 0,
    to: 1,
    flag: { value: "P|best|label" },
    meaning: "minimum probability; best: one threshold for the best F1, label: one per label",
  },
  precision: real("P", "keep labels so that this share of them is right, guaranteed", { above: 0, to: 1 }),
  confidence: real("P", "with --precision: the share of trainings in which it holds", {
    above: 0,
    to: 1,
    default: "0.95",
  }),
  recall: real("P", "keep labels that contain, on average, this share of the true ones", { above: 0, to: 1 }),
  for: choice(aims, "choose thresholds per label that maximise this: macro-f1 is F1 averaged over labels"),
};

export const cutOf = (given: ThresholdChoice): ThresholdChoice =>
  Object.fromEntries(Object.keys(cutOptions).map((name) => [name, given[name as keyof ThresholdChoice]]));

/** Lists of labels: files with a label on each line. */
export const listOptions: Readonly<Record<"allow" | "deny", CommandOption<Text>>> = {
  allow: text("FILE", "predict only the labels in this file, one per line"),
  deny: text("FILE", "predict none of the labels in this file, one per line"),
};

export async function readLists(given: Given<typeof listOptions>): Promise<LabelLists> {
  const lists: Record<string, string[]> = {};
  for (const name of ["allow", "deny"] as const) {
    const path = given[name];
    if (path === undefined) continue;
    const lines = new TextDecoder().decode(await readWhole(path)).split("\n");
    lists[name] = lines.map((line) => line.trim()).filter(Boolean);
  }
  return lists;
}

/** Labels of a list that are shown where no model has them. */
const SHOWN = 5;

/** Says which labels of the lists no model has: they may be mistyped. */
export function sayUnknown(lists: LabelLists, names: readonly string[], screen: Terminal): void {
  const known = new Set(names);
  for (const [flag, list] of Object.entries(lists) as [string, readonly string[]][]) {
    const unknown = list.filter((label) => !known.has(label));
    for (const label of unknown.slice(0, SHOWN))
      screen.say(`--${flag}: no model has the label ${excerpt(label)}${didYouMean(label, names)}`);
    if (unknown.length > SHOWN) screen.say(`--${flag}: and ${unknown.length - SHOWN} more`);
  }
}

/** Which labels of a model may come; refuses lists that leave none of them. */
export function allowedBy(labels: ArrayLike<string | number>, lists: LabelLists): Uint8Array | undefined {
  const allowed = allowedLabels(labels, lists);
  if (allowed && !allowed.includes(1))
    throw new UsageError(
      `--allow and --deny: found lists that leave none of the model's ${labels.length} labels, expected at least one ` +
        `(the first is ${labels[0]})`,
    );
  return allowed;
}

/** Where schedulers say which part is whose: the number of the task, the first number, and how many there are. */
const schedulers: { index: string; first?: string; count?: string }[] = [
  { index: "SLURM_ARRAY_TASK_ID", first: "SLURM_ARRAY_TASK_MIN", count: "SLURM_ARRAY_TASK_COUNT" },
  { index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE" },
  // Kubernetes has no variable for the number of completions: --shard auto/N says it.
  { index: "JOB_COMPLETION_INDEX" },
];

type Environment = Readonly<Record<string, string | undefined>>;

/** I/N, auto (both from the scheduler that started the process) or auto/N; all of the work without it. */
export function shardOf(typed = "1/1", environment: Environment = process.env): Shard {
  const [, place, of] = /^(\d+|auto)(?:\/(\d+))?$/.exec(typed) ?? [];
  const { index, count } = place === "auto" ? scheduled(of, environment) : { index: Number(place), count: Number(of) };
  if (index >= 1 && index <= count) return { index, count };
  const found = typed === "auto" ? `${index}/${count} from the scheduler` : typed;
  throw new UsageError(`--shard: found ${found}, expected I/N with I from 1 to N, auto or auto/N`);
}

function scheduled(of: string | undefined, environment: Environment): Shard {
  const scheduler = schedulers.find(({ index }) => environment[index] !== undefined);
  if (scheduler === undefined) {
    const names = schedulers.map(({ index }) => index).join(", ");
    throw new UsageError(`--shard auto: found none of ${names}, expected one in the environment`);
  }
  const number = (name: string | undefined): number | undefined =>
    name === undefined || environment[name] === undefined ? undefined : Number(environment[name]);
  const count = of === undefined ? number(scheduler.count) : Number(of);
  if (count === undefined)
    throw new UsageError(`--shard auto: found ${scheduler.index} but not how many there are, expected auto/N`);
  // Where the first number is not said, tasks are counted from 0.
  return { index: Number(environment[scheduler.index]) - (number(scheduler.first) ?? 0) + 1, count };
}
