// What the page computes without an element of it: thresholds, marks, addresses, packed states.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pieces } from "../../site/page/marks.ts";
import { readShared, sharedAddress } from "../../site/page/share.ts";
import { sureWords } from "../../site/page/sure.ts";
import { sweep } from "../../site/worker/heldout.ts";
import { packState, unpackState } from "../../site/worker/packed.ts";
import { type LearningState, learn, loadModel, readDataset, train } from "../../src/index.ts";

describe("precision and recall at a threshold", () => {
  test("are those of a count over all labels", () => {
    const judged = fc.array(
      fc.record({ probability: fc.double({ min: 0, max: 1, noNaN: true }), right: fc.boolean() }),
    );
    fc.assert(
      fc.property(judged, fc.nat(20), (labels, more) => {
        const truths = labels.filter(({ right }) => right).length + more;
        for (const { percent, kept, precision, recall } of sweep(labels, truths)) {
          const above = labels.filter(({ probability }) => probability >= percent / 100);
          const right = above.filter((label) => label.right).length;
          expect(kept).toBe(above.length);
          if (kept > 0) expect(precision).toBe(right / kept);
          if (truths > 0) expect(recall).toBe(right / truths);
        }
      }),
    );
  });

  test("are said with the number of texts they come from", () => {
    const points = [{ percent: 50, kept: 4, precision: 0.75, recall: 0.6 }];
    expect(sureWords(50, { rows: 1200, points })).toBe(
      "Labels of 50 % and more: 75 % of them were right, and 60 % of the true labels were among them (on 1,200 held-out texts).",
    );
    const guarantees = {
      evidence: "held-out" as const,
      rows: 900,
      recall: [{ target: 0.5, threshold: 0.6 }],
      precision: [{ target: 0.7, confidence: 0.95, threshold: 0.4 }],
      expectedRecall: { rest: 0, intercept: 0, slope: 1 },
    };
    expect(sureWords(50, { rows: 1200, points }, guarantees)).toMatch(
      /held-out texts\)\. Promised: at least 70 % of them are right \(in 95 of 100 trainings\), on average they hold 50 % of the true labels\.$/,
    );
    expect(sureWords(30, undefined, guarantees)).toMatch(/^Labels of at least 30 %: on average .* Proven on 900/);
    expect(sureWords(50, undefined)).toBe("Labels of 50 % and more are kept.");
  });
});

describe("marks", () => {
  test("are on the words that were named, and the text stays whole", () => {
    expect(pieces("A poet, a Poet's bird", new Set(["poet"]))).toEqual([
      { text: "A ", marked: false },
      { text: "poet", marked: true },
      { text: ", a ", marked: false },
      { text: "Poet", marked: true },
      { text: "'s bird", marked: false },
    ]);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.string()), (text, words) => {
        expect(
          pieces(text, new Set(words))
            .map((piece) => piece.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });
});

describe("an address", () => {
  test("gives back the text and the model it was made of", () => {
    const page = "https://host.example/mlgpf/index.html";
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const model = "https://elsewhere.example/m?x=1&y=#z";
        const { hash } = new URL(sharedAddress(page, { text, model }));
        expect(readShared(hash, page)).toEqual({ ...(text && { text }), model });
      }),
    );
    expect(readShared("#model=zoo.bin", page)).toEqual({ model: "https://host.example/mlgpf/zoo.bin" });
    expect(readShared("", page)).toEqual({});
  });
});

describe("a packed state", () => {
  test("teaches what the whole state teaches, to two digits", async () => {
    const names = ["cat", "dog", "bird", "oak", "elm", "fern"];
    const rows = Array.from({ length: 2400 }, (_, i) => {
      const animal = i % 6 < 3;
      const text = `a ${names[i % 6]} ${animal ? "runs" : "grows"} in the ${["wood", "park", "hill"][(i * 7) % 3]} ${i % 11}`;
      return { text, labels: [animal ? "animal" : "plant"] };
    });
    const { dataset } = await readDataset(rows, { tfidf: { charNgrams: false, leadWords: 0 } });
    let state: LearningState | undefined;
    const model = await train(dataset, {
      model: "linear",
      threads: 1,
      onState: (made) => {
        state = made;
      },
    });
    if (state === undefined) throw new Error("no state");
    const lesson = [{ id: "1", text: "a robot runs in the park", labels: ["machine"] }];
    const probabilities = await Promise.all(
      [state, unpackState(packState(state), "packed")].map(async (from) => {
        const learned = await learn(model, from, lesson, { weight: 20, threads: 1 });
        using loaded = await loadModel(learned.model, { threads: 1 });
        const labels = await loaded.predict("a robot runs in the park", { topK: 3 });
        return new Map(labels.map(({ label, probability }) => [label, probability]));
      }),
    );
    const [whole, packed] = probabilities;
    expect(whole.get("machine")).toBeGreaterThan(0.05);
    for (const [label, probability] of whole) expect(packed.get(label)).toBeCloseTo(probability, 2);
  });

  test("is refused where it is something else", () => {
    expect(() => unpackState(new Uint8Array(20), "x")).toThrow(/expected/);
  });
});
