import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DatasetBuilder } from "../../../src/data/builder.ts";
import { OneHot } from "../../../src/data/formats/labels.ts";
import type { ReadOptions } from "../../../src/data/options.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { plain, refusal, wordsAlone } from "../support.ts";

const csv = "id,comment,is_toxic,is_rude,likes\n1,you rat,1,TRUE,3\n2,you dear,0,,4\n3,rat,0,1.0,5\n";

async function labels(text: string, more: ReadOptions): Promise<unknown> {
  const result = await readDataset(text, { file: "f.csv", tfidf: wordsAlone, ...more });
  const names = result.dataset.labelNames ?? [];
  return [names, plain(result).rows.map(({ labels: own }) => own)];
}

describe("labels as columns", () => {
  test("by their names or a pattern, numbered in their order", async () => {
    const text = "comment";
    const expected = [
      ["is_toxic", "is_rude"],
      [[0, 1], [], [1]],
    ];
    expect(await labels(csv, { text, oneHot: ["IS_toxic", "is_rude"] })).toEqual(expected);
    expect(await labels(csv, { text, oneHot: "is_*" })).toEqual(expected);
    expect(await labels(csv, { text, oneHot: "*", ignore: ["likes"] })).toEqual(expected);
  });
  test("by patterns, of which none takes long, whoever made them", () => {
    const has = (pattern: string, name: string): boolean =>
      new OneHot(new DatasetBuilder("f", { oneHot: pattern })).has(name);
    const of = (characters: string): fc.Arbitrary<string> =>
      fc.array(fc.constantFrom(...characters), { maxLength: 7 }).map((each) => each.join(""));
    fc.assert(
      fc.property(of("aBb*"), of("aAb"), (pattern, name) => {
        expect(has(pattern, name)).toBe(new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "i").test(name));
      }),
      { numRuns: 2000 },
    );
    expect(has(`${"a*".repeat(60)}b`, "a".repeat(3000))).toBe(false);
    expect(has("a".repeat(100_000), "a")).toBe(false);
  });
  test("beside features, which they are not", async () => {
    const read = await readDataset(csv, { file: "f.csv", ignore: ["comment"], oneHot: "is_*" });
    expect(read.dataset.featureNames).toEqual(["likes"]);
  });
  test("beside a column of labels", async () => {
    const text = "text,labels,b\nx,a,1\nx,c,0\n";
    expect(await labels(text, { labels: "labels", oneHot: "b" })).toEqual([
      ["b", "a", "c"],
      [[0, 1], [2]],
    ]);
  });
  test("as keys of JSON", async () => {
    const text = '{"text":"x","is_a":true,"is_b":0}\n{"text":"x","is_b":1,"is_a":null}\n';
    expect(await labels(text, { file: "f.jsonl", oneHot: "is_*" })).toEqual([
      ["is_a", "is_b"],
      [[0], [1]],
    ]);
    expect(await refusal('{"text":"x"}\n', { file: "f.jsonl", oneHot: "is_*" })).toContain(
      'found keys "text", expected "is_*"',
    );
  });
  test("with anything else in them are refused", async () => {
    const options = { file: "f.csv", text: "comment", oneHot: ["is_toxic", "likes"] };
    expect(await refusal(csv, options)).toBe(
      'f.csv, line 2: found "3" in column "likes", expected 0 or 1 (option oneHot)',
    );
    expect(await refusal(csv, { ...options, oneHot: "tag_*" })).toBe(
      'f.csv, line 1: found columns "id, comment, is_toxic, is_rude, likes", expected a column "tag_*" (option oneHot names another column)',
    );
  });
});
