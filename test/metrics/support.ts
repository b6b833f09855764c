// Label sets as a person writes them down.

import { LabelSetsBuilder } from "../../src/data/builders.ts";
import type { LabelSets } from "../../src/data/dataset.ts";

export function setsOf(rows: readonly (readonly number[])[], labels: number): LabelSets {
  const builder = new LabelSetsBuilder();
  for (const row of rows) {
    for (const label of row) builder.add(label);
    builder.endRow();
  }
  return builder.build(labels);
}
