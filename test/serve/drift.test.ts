// Promises that are watched: the confidence sequence covers the mean at all times at once, and a promise that is broken is noticed.

import { describe, expect, test } from "vitest";
import { ConfidenceSequence, Drift, type Judgement } from "../../src/serve/learning/drift.ts";
import { ServerMetrics } from "../../src/serve/metrics.ts";
import type { Project } from "../../src/serve/project.ts";
import { projectOf } from "../../src/serve/project.ts";
import { Service } from "../../src/serve/service.ts";
import { generator } from "../support/numbers.ts";

type Judged = Judgement["documents"][number];

describe("a confidence sequence", () => {
  test("holds the mean at every one of 400 looks, but for one run in twenty", () => {
    for (const [mean, draw] of [
      [0.9, (u: number) => Number(u < 0.9)],
      [0.5, (u: number) => u],
      [0.05, (u: number) => Number(u < 0.05)],
    ] as const) {
      let missed = 0;
      for (let seed = 1; seed <= 200; seed++) {
        const next = generator(seed);
        const sequence = new ConfidenceSequence();
        let always = true;
        for (let i = 0; i < 400; i++) {
          sequence.add(draw(next()));
          always &&= sequence.low <= mean && sequence.high >= mean;
        }
        if (!always) missed++;
      }
      expect(missed).toBeLessThanOrEqual(10);
    }
  });

  test("becomes narrow, the sooner the less the numbers vary", () => {
    const widthOf = (draw: (u: number) => number): number => {
      const next = generator(1);
      const sequence = new ConfidenceSequence();
      for (let i = 0; i < 1000; i++) sequence.add(draw(next()));
      return sequence.high - sequence.low;
    };
    expect(widthOf((u) => Number(u < 0.5))).toBeLessThan(0.2);
    expect(widthOf((u) => 0.4 + u / 5)).toBeLessThan(0.05);
  });
});

/** Documents with three true labels of which each is kept with chance `found`, and as many kept wrongly with chance `wrong`. */
function documents(count: number, seed: number, found: number, wrong: number): Judged[] {
  const next = generator(seed);
  const times = (chance: number): number => [0, 1, 2].filter(() => next() < chance).length;
  return Array.from({ length: count }, () => {
    const right = times(found);
    return { right, kept: right + times(wrong), truths: 3 };
  });
}

describe("drift", () => {
  test("is said once, with the figures, where a promise is not kept; one that is kept stays", () => {
    for (const promise of ["recall", "precision"] as const) {
      const said: string[] = [];
      const drift = new Drift((sentence) => said.push(sentence));
      expect(drift.status).toEqual([]);
      const add = (given: readonly Judged[]): void => drift.add([{ promise, target: 0.9, documents: given }]);
      for (let i = 0; i < 20; i++) add(documents(50, i, 0.92, 0.05));
      expect(said).toEqual([]);
      const [kept] = drift.status;
      expect(kept).toMatchObject({ promise, target: 0.9, documents: 1000, holds: true });
      expect(kept.low).toBeLessThan(kept.observed);
      expect(kept.high).toBeGreaterThan(kept.observed);
      for (let i = 0; i < 40; i++) add(documents(50, 100 + i, 0.6, 0.3));
      expect(drift.status[0].holds).toBe(false);
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(`the ${promise} is no longer as promised: promised 0.9, observed 0.`);
    }
  });

  test("figures are those of plain sums", () => {
    const given = documents(300, 7, 0.8, 0.2);
    const sum = (of: (one: Judged) => number): number => given.reduce((total, one) => total + of(one), 0);
    const drift = new Drift(() => {});
    drift.add([
      { promise: "recall", target: 0.8, documents: given },
      { promise: "precision", target: 0.8, documents: given },
    ]);
    const [recall, precision] = drift.status;
    expect(recall.observed).toBeCloseTo(sum(({ right }) => right / 3) / 300, 12);
    expect(precision.observed).toBeCloseTo(sum(({ right }) => right) / sum(({ kept }) => kept), 12);
    for (const { low, high, observed } of [recall, precision]) expect(low < observed && observed < high).toBe(true);
  });

  test("a promise with another target begins anew", () => {
    const drift = new Drift(() => {});
    drift.add([{ promise: "recall", target: 0.9, documents: documents(10, 1, 0.9, 0) }]);
    drift.add([{ promise: "recall", target: 0.8, documents: documents(5, 2, 0.9, 0) }]);
    expect(drift.status).toMatchObject([{ target: 0.8, documents: 5 }]);
  });

  test("goes on from what was kept, and begins anew with what is none", () => {
    const judgements = (seed: number): Judgement[] =>
      (["recall", "precision"] as const).map((promise) => ({
        promise,
        target: 0.85,
        documents: documents(40, seed, 0.8, 0.1),
      }));
    const [whole, first] = [new Drift(() => {}), new Drift(() => {})];
    for (const drift of [whole, first]) drift.add(judgements(1), 7);
    const kept: unknown = JSON.parse(JSON.stringify(first.kept));
    first.add(judgements(3), 8); // changes nothing of what was kept
    const second = new Drift(() => {}, kept);
    expect(second.batch).toBe(7);
    for (const drift of [whole, second]) drift.add(judgements(2), 8);
    expect(second.status).toEqual(whole.status);
    expect(second.status[0].documents).toBe(80);
    for (const odd of [undefined, 7, { watched: [{}] }, { watched: [{ of: { promise: "recall", target: 1 } }] }])
      expect(new Drift(() => {}, odd).status).toEqual([]);
  });

  test("stands in /health and /metrics", async () => {
    const status = {
      promise: "recall",
      target: 0.9,
      documents: 80,
      observed: 0.7,
      low: 0.6,
      high: 0.8,
      holds: false,
    } as const;
    const tagger = { labels: ["a"], predictMany: () => [] };
    const learning = { promises: [status] } as unknown as NonNullable<Project["learning"]>;
    const project: Project = { ...projectOf(tagger, "shop"), learning };
    const text = new ServerMetrics(() => ({}) as never).text([project]);
    expect(text).toContain('mlgpf_promise_holds{project="shop",promise="recall",target="0.9"} 0');
    expect(text).toContain('mlgpf_promise_observed{project="shop",promise="recall",target="0.9"} 0.7');
    const request = { method: "GET", target: "/health", header: () => "localhost", gone: () => false } as never;
    const reply = await new Service([project]).answer(request);
    expect(JSON.parse(String(reply.body)).promises).toEqual({ shop: [status] });
    expect(new ServerMetrics(() => ({}) as never).text([projectOf(tagger)])).not.toContain("promise");
  });
});
