// Suspicious labels as a file: CSV for a spreadsheet, or an HTML page with near-duplicates that disagree beside each other.

import { type Dataset, labelledPart, mapColumns } from "../data/dataset.ts";
import type { ModelSchema } from "../parts/part.ts";
import { csvCell, rounded } from "../predict/lines.ts";
import type { Suspect } from "../train/audit.ts";
import { textOf } from "./collect.ts";
import { breakable, type Html, html, paragraph, table, tight, whole } from "./html.ts";
import { percent } from "./numbers.ts";
import { documentOf } from "./page.ts";

const HEAD =
  "id,line,label,given,probability,chance_of_mistake,labels,near_id,near_line,near_labels,near_similarity".split(",");

export function auditCsv(suspects: readonly Suspect[], raw = false): string {
  const lines = suspects.map(({ id, line, label, given, probability, chance, labels, near }) => [
    ...[id, line, label, given ? "yes" : "no", rounded(probability), rounded(chance), labels.join("|")],
    ...(near ? [near.id, near.line, near.labels.join("|"), rounded(near.similarity)] : ["", "", "", ""]),
  ]);
  return `${[HEAD, ...lines].map((cells) => cells.map((cell) => csvCell(cell, ",", raw)).join(",")).join("\n")}\n`;
}

type Side = Pick<Suspect, "row" | "id" | "line" | "labels">;

export function auditHtml(title: string, suspects: readonly Suspect[], schema: ModelSchema, given: Dataset): string {
  const data = labelledPart(mapColumns(given, schema.columnIds));
  const side = ({ row, id, line, labels }: Side, label: string): Html => {
    const all = labels.map((each) => (each === label ? html`<strong>${breakable(each)}</strong>` : breakable(each)));
    const between = all.flatMap((each, i) => (i > 0 ? [", ", each] : [each]));
    return html`${id ?? `line ${line ?? row + 1}`}<small>${textOf(schema, data, row)}</small>${between}`;
  };
  const missing = suspects.filter(({ given }) => !given).length;
  const rows = suspects.map((suspect) => {
    const { label, given, probability, chance, near } = suspect;
    return [
      html`<strong>${breakable(label)}</strong><small>${given ? "given, may be wrong" : "absent, may be missing"}</small>`,
      tight(percent(probability)),
      tight(percent(chance)),
      side(suspect, label),
      near && html`${side(near, label)}<small>${tight(percent(near.similarity))} alike</small>`,
    ];
  });
  const heads = ["Label", "Probability", "Chance of a mistake", "Row", "Near-duplicate that disagrees"];
  return documentOf(
    `${title}: audit`,
    html`<h1>Labels of ${title} that may be mistakes</h1>
${paragraph`${whole(suspects.length - missing)} given labels that may be wrong and ${whole(missing)} absent ones that may be missing, worst first. The probability is that of a model that has not seen the row. The chance of a mistake assumes that one label in fifty is one. Look at the row before you change a label: the model may be wrong too.`}
${table("suspects", "Worst first", heads, rows, (column) => column === 1 || column === 2)}`,
  );
}
