// Labels of one data set under the numbers that another one, or a model, has for their names.

import type { Dataset } from "./dataset.ts";

/** A data set with its labels numbered as these names are; others come after them. */
export function labelsByName(dataset: Dataset, names: readonly string[]): Dataset {
  const { labels, labelNames } = dataset;
  const numbers = new Map(names.map((name, i) => [name, i]));
  const numberOf = (label: number): number => {
    const name = labelNames?.[label] ?? String(label);
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
  };
  const labelIndex = new Int32Array(labels.labelIndex.length);
  for (let row = 0; row < labels.rows; row++) {
    const [from, to] = [labels.rowStart[row] as number, labels.rowStart[row + 1] as number];
    labelIndex.set(labels.labelIndex.subarray(from, to).map(numberOf).sort(), from);
  }
  return {
    ...dataset,
    labels: { ...labels, labels: numbers.size, labelIndex },
    labelNames: [...numbers.keys()],
  };
}
