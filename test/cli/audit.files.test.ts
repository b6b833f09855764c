// mlgpf audit and train --audit, and what eval says of promises.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectSentence, inFolder, mlgpf } from "./support.ts";

const KINDS = [
  ["cats", "whiskers claws purring"],
  ["birds", "wings feathers nest"],
  ["fish", "fins gills water"],
];

test("lists labels that may be wrong or missing, with near-duplicates that disagree, and refuses what it cannot write", async () => {
  await inFolder(async (path) => {
    const lines = Array.from({ length: 120 }, (_, i) => {
      const [label, words] = KINDS[i % 3];
      // Row 7 has a wrong label, row 9 has lost its own.
      const labels = i === 7 ? ["fish"] : i === 9 ? [] : [label];
      return JSON.stringify({ id: `d${i}`, text: `${words} number ${i % 7}`, labels });
    });
    writeFileSync(path("docs.jsonl"), `${lines.join("\n")}\n`);
    const train = ["train", path("docs.jsonl"), "--out", path("tagger")];
    const trained = await mlgpf([...train, "--audit", path("suspects.html")]);
    expect(trained.code, trained.err).toBe(0);
    expect(trained.err).toMatch(
      /suspects\.html written: \d+ suspicious labels, \d+ of them more likely wrong than not/,
    );
    const page = readFileSync(path("suspects.html"), "utf8");
    expect(page).toContain("absent, may be missing");
    expect(page).not.toContain("<script");
    const listed = await mlgpf(["audit", path("tagger"), path("docs.jsonl"), "--top", "3"]);
    expect(listed.code, listed.err).toBe(0);
    const rows = listed.out.trimEnd().split("\n").slice(1);
    expect(rows.length).toBeLessThanOrEqual(3);
    const found = rows.map((row) => row.split(",").slice(0, 4).join(","));
    expect(found).toContain("d7,8,fish,yes");
    expect(found).toContain("d9,10,cats,no");
    expect(rows.find((row) => row.startsWith("d9"))).toMatch(/,d\d+,\d+,cats,(1|0\.\d+)$/);
    const refused = await mlgpf([...train, "--audit", path("suspects.txt")]);
    expectSentence(refused);
    expect(refused.err).toContain("expected a name that ends with .csv or .html");
    expect(existsSync(path("suspects.txt"))).toBe(false);
    const measured = await mlgpf(["eval", path("tagger"), path("docs.jsonl"), "--recall", "0.8"]);
    expect(measured.err).toMatch(
      /Promised recall 80\.0 % on average, observed \d+\.\d % \(threshold [\d.]+, measured by leave-one-out on \d+ rows\)/,
    );
    const macro = await mlgpf(["eval", path("tagger"), path("docs.jsonl"), "--for", "macro-f1"]);
    expect(macro.out).toContain("keeping all labels of at least their thresholds");
  });
});
