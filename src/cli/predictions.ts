// Predictions as lines of a file: JSON, or CSV for a spreadsheet.

import { type Answer, csvFormat, type PredictionFormat, rounded } from "../predict/lines.ts";
import { given, UsageError } from "./flags.ts";

/** Keys of our own, which a column to keep would hide. */
const OWN = ["id", "line", "known", "labels", "probabilities", "reasons", "error"];

/** By the ending of the file; standard output is JSON. `reasons`: whether there is a column of them in CSV. */
export function formatOf(
  out: string | undefined,
  keep: readonly string[],
  reasons: boolean,
): PredictionFormat {
  const hidden = keep.find((name) => OWN.includes(name));
  if (hidden !== undefined)
    throw new UsageError(
      `--keep: found ${hidden}, which predict writes itself, expected another key or column`,
    );
  const ending = /\.(csv|tsv|jsonl|ndjson)$/i.exec(out ?? ".jsonl")?.[1]?.toLowerCase();
  if (ending === undefined)
    throw new UsageError(`--out: found ${out}, expected a name that ends with .csv, .tsv, .jsonl or .ndjson`);
  if (ending === "csv" || ending === "tsv") return csvFormat(keep, ending === "csv" ? "," : "\t", reasons);
  return { line: (answer) => jsonLine(answer, keep) };
}

function jsonLine({ id, line, kept, known, labels, error }: Answer, keep: readonly string[]): string {
  const found = labels?.map(({ label, probability, sd, score, reasons }) => ({
    label,
    probability: rounded(probability),
    ...(sd === undefined ? {} : { sd: rounded(sd) }),
    ...(score === undefined ? {} : { score: rounded(score) }),
    ...(reasons === undefined
      ? {}
      : { reasons: reasons.map(({ word, share }) => ({ word, share: rounded(share) })) }),
  }));
  const carried = Object.fromEntries(keep.map((name, i) => [name, kept?.[i]]));
  return JSON.stringify({
    ...given({ id }),
    line,
    ...given(carried),
    ...given({ known: known === undefined ? known : rounded(known), labels: found, error }),
  });
}
