// Documents as Annif has them; examples after tests/corpora/archaeology of Annif.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReadOptions } from "../../../src/data/options.ts";
import { readDataset } from "../../../src/data/reader.ts";
import { mutated, neverCrashes, plain, refusal, wordsAlone } from "../support.ts";

const [P1, P2] = ["http://www.yso.fi/onto/yso/p2557", "http://www.yso.fi/onto/yso/p7346"];
const TEXTS = ["Läntinen kristillistymisprosessi vuoden 1000 jälkeen", "Oulunlinnan salakäytävä"];

async function documents(text: string, more: ReadOptions = {}): Promise<unknown> {
  const result = await readDataset(text, { tfidf: wordsAlone, ...more });
  const { dataset, format } = result;
  return {
    format,
    terms: dataset.vectoriser?.terms,
    labels: plain(result).rows.map(({ labels }) => labels.map((id) => dataset.labelNames?.[id])),
    ...(dataset.ids && { ids: dataset.ids }),
  };
}

const terms = ["1000", "jälkeen", "kristillistymisprosessi", "läntinen", "oulunlinnan", "salakäytävä", "vuoden"];
const labels = [[P1], [P1, P2]];

describe("Annif's documents", () => {
  test("short texts", async () => {
    const text = `${TEXTS[0]}\t<${P1}>\n${TEXTS[1]}\t<${P1}> <${P2}>\n`;
    const expected = { format: "annif", terms, labels };
    for (const file of ["documents.tsv", "documents"]) expect(await documents(text, { file })).toEqual(expected);
    expect(await documents(text.replaceAll(/[<>]/g, ""), { file: "documents.tsv" })).toEqual(expected);
    const [bare] = text.split("\t");
    const unlabelled = { format: "annif", requireLabels: false } as const;
    expect((await readDataset(`${bare}\n`, { ...unlabelled, tfidf: wordsAlone })).format).toBe("annif");
    const partly = await readDataset(`${text}no tab\n`, { file: "documents.tsv", tfidf: wordsAlone });
    expect([partly.dataset.features.rows, partly.unlabelled]).toEqual([2, 1]);
    expect(partly.notes).toEqual(["documents.tsv: 1 row without labels was left out (line 3)"]);
    expect(await refusal("no tab\n", { format: "annif", file: "documents.tsv" })).toBe(
      "documents.tsv, line 1: found no tab, expected a text, a tab, and URIs with blanks between them",
    );
  });
  test("CSV", async () => {
    const text = `text,subject_uris\n${TEXTS[0]},<${P1}>\n${TEXTS[1]},${P1} <${P2}>\n`;
    expect(await documents(text, { file: "documents.csv" })).toEqual({ format: "csv", terms, labels });
  });
  test("JSON lines, subjects by URI or by label", async () => {
    const text = [
      { document_id: "a", text: TEXTS[0], metadata: { title: "x" }, subjects: [{ uri: P1, label: "y" }] },
      { document_id: "b", text: TEXTS[1], subjects: [{ label: P1 }, { uri: P2 }] },
    ].map((each) => JSON.stringify(each));
    expect(await documents(text.join("\n"))).toEqual({ format: "jsonl", terms, labels, ids: ["a", "b"] });
  });
  test("damaged, give a data set or one sentence", async () => {
    const line = fc
      .tuple(fc.string(), fc.array(fc.webUrl()))
      .map(([text, uris]) => `${text}\t${uris.map((uri) => `<${uri}>`).join(" ")}`);
    const source = fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(mutated(source), (bytes) => neverCrashes(bytes, { file: "f.tsv", format: "annif" })),
      { numRuns: 100 },
    );
  });
});
