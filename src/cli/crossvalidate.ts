// --cross-validate N: how good the models are that these data and options give, and how much that varies.

import type { Dataset } from "../data/dataset.ts";
import { folds, spreadOf } from "./holdout.ts";
import { figuresLine, spreadLines } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { type Options, trainWatched } from "./watched.ts";

/** Trains on all but one part of the data, for each part, and prints what that gives on it. */
export async function crossValidate(
  dataset: Dataset,
  options: Options,
  count: number,
  json: boolean,
  screen: Terminal,
): Promise<void> {
  const figures: Record<string, number>[] = [];
  for (const { kept, held } of folds(dataset, count, options.seed ?? 0)) {
    screen.say(`part ${figures.length + 1} of ${count}`);
    const model = await trainWatched(
      kept,
      { ...options, validation: held },
      () => {},
      () => "nothing of a cross-validation is kept",
      screen,
    );
    const found = model.summary.validation as Record<string, number>;
    screen.say(figuresLine(found));
    figures.push(found);
  }
  const spread = spreadOf(figures);
  if (json) console.log(JSON.stringify({ folds: figures, spread }));
  else console.log(spreadLines(spread).join("\n"));
}
