// Labels for a file that is read piece by piece: an answer for each of its rows.

import type { Batch } from "../data/options.ts";
import { chooseLabels, type LabelChoice } from "./choose.ts";
import { type Explained, explainRows } from "./explain.ts";
import type { ModelHost } from "./host.ts";
import type { Answer } from "./lines.ts";
import { predictRows } from "./load.ts";

export interface AnswerOptions extends LabelChoice {
  /** Words for and against each label; without it none are looked for. */
  explain?: number | undefined;
}

/** An answer for each row of a piece that was read and each that was left out, in the order of the file. */
export async function answersOf(
  batch: Batch,
  host: Pick<ModelHost, "use">,
  model: Explained & { labels: number },
  { explain, ...choice }: AnswerOptions,
): Promise<Answer[]> {
  const { features, ids, lines, kept, known, skipped, written } = batch;
  const rows = await host.use((predictor) =>
    chooseLabels((depth) => predictRows(predictor, features, depth), model.labels, choice),
  );
  if (explain !== undefined)
    await host.use((predictor) =>
      explainRows(predictor, model, { features, written: (row) => written?.[row] }, rows, explain),
    );
  const answers: Answer[] = [];
  const left = [...skipped];
  for (let i = 0; i <= rows.length; i++) {
    for (; left[0]?.rowsBefore === i; left.shift())
      answers.push({ line: left[0].line, error: left[0].message });
    const labels = rows[i];
    if (labels === undefined) break;
    answers.push({
      line: lines?.[i] as number,
      ...(ids && { id: ids[i] as string }),
      ...(kept && { kept: kept[i] as readonly string[] }),
      ...(known && { known: known[i] as number }),
      labels,
    });
  }
  return answers;
}
