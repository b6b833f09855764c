// Labels in a cell of CSV are the same labels when the file is read again.

import { expect, test } from "vitest";
import { readDataset } from "../../src/data/reader.ts";
import { csvFormat } from "../../src/predict/lines.ts";

test("labels with a separator in them are told apart when the file is read again", async () => {
  const names = ["red", "rock|pop", "a;b", "|", "=1"];
  const { head, line } = csvFormat([], {}, { raw: true });
  const answers = [names, ["blue", "rock|pop"]].map((labels, i) =>
    line({ id: String(i), line: i + 1, known: i + 1, labels: labels.map((label) => ({ label, probability: 0.5 })) }),
  );
  const read = { labels: "labels", ignore: ["line", "probabilities", "error"], labelSeparator: "|" };
  const { dataset } = await readDataset(`${[head, ...answers].join("\n")}\n`, read);
  expect(dataset.labelNames).toEqual([...names, "blue"]);
  expect(Array.from(dataset.labels.labelIndex)).toEqual([0, 1, 2, 3, 4, 1, 5]);
});
