import { expect, test } from "vitest";
import { readDataset } from "../../src/io/dataset.ts";

const hasFiles = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

test("a text is a path unless it has a line break; where there are no files that is said", async () => {
  const { dataset } = await readDataset('{"features":[1],"labels":[0]}\n');
  expect(dataset.features.rows).toBe(1);
  const why = hasFiles ? "there is no such file" : "there is no file system here";
  await expect(readDataset("no-such-file.jsonl")).rejects.toThrow(`cannot read no-such-file.jsonl: ${why}`);
});
