// Small things of the library: keys of texts and labels in train, explain: true, ids of query, and models that nobody disposed of.

import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { load } from "../../src/edge/index.ts";
import { compactModel, loadModel, query, train } from "../../src/index.ts";
import { ModelHost } from "../../src/predict/host.ts";
import { inFolder } from "../cli/support.ts";

const rows = Array.from({ length: 40 }, (_, i) =>
  i % 2 ? { text: `a purring cat ${i}`, labels: ["cat"] } : { text: `a swimming fish ${i}`, labels: ["fish"] },
);

afterEach(() => vi.restoreAllMocks());

test("train takes the keys of text, labels and id, for validation too", async () => {
  await inFolder(async (path) => {
    const lines = rows.map(({ text, labels }, i) => `k${i},${text},${labels[0]}`);
    writeFileSync(path("pets.csv"), ["Key,Body,Kind", ...lines].join("\n"));
    const keys = { text: "Body", labels: "Kind", id: "Key" };
    for (const validation of ["20%", path("pets.csv")]) {
      const model = await train(path("pets.csv"), { ...keys, validation, threads: 1 });
      expect([...(model.schema.labelNames ?? [])].sort()).toEqual(["cat", "fish"]);
      expect(model.summary.validation?.accuracy).toBe(100);
    }
    await expect(train(path("pets.csv"), { threads: 1 })).rejects.toThrow(/labels/);
  });
});

test("explain: true gives as many reasons as explain: 3, here and at the edge", async () => {
  const model = await train(rows, { threads: 1 });
  using loaded = await loadModel(model, { threads: 1 });
  const tagger = await load(await compactModel(model));
  const text = "a purring cat in the house";
  expect(await loaded.predict(text, { explain: true })).toEqual(await loaded.predict(text, { explain: 3 }));
  expect(tagger.predict(text, { explain: true })).toEqual(tagger.predict(text, { explain: 3 }));
  expect((await loaded.predict(text, { explain: false }))[0].reasons).toBeUndefined();
});

test("query gives the ids of rows that have some", async () => {
  const model = await train(rows, { threads: 1 });
  const asked = rows.slice(0, 6).map(({ text }, i) => ({ text, id: `d${i}` }));
  for (const { row, id } of await query(model, asked, { top: 3, threads: 1 })) expect(id).toBe(`d${row}`);
  for (const each of await query(model, [{ text: "a cat" }], { threads: 1 })) expect("id" in each).toBe(false);
});

test("a model that was disposed of says so, and what holds a text under another key is told the right one", async () => {
  const loaded = await loadModel(await train(rows, { threads: 1 }), { threads: 1 });
  await expect(loaded.predict({ body: "a cat" } as never)).rejects.toThrow('or a text under the key "text"');
  loaded.dispose();
  await expect(loaded.predict("a cat")).rejects.toThrow("model: it was disposed of; load it again");
});

test("a model that nobody disposed of is freed when nothing of it is used any more", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const model = await train(rows, { threads: 1 });
  const freed = vi.spyOn(ModelHost.prototype, "dispose");
  const use = async (): Promise<(text: string) => unknown> => {
    const { predict } = await loadModel(model, { threads: 1 });
    return (text) => predict(text);
  };
  let held: ((text: string) => unknown) | undefined = await use();
  for (let i = 0; i < 5; i++) {
    collect();
    await setTimeout(5);
  }
  expect(freed).not.toHaveBeenCalled();
  await held("a cat");
  held = undefined;
  for (let i = 0; i < 200 && freed.mock.calls.length === 0; i++) {
    collect();
    await setTimeout(5);
  }
  expect(freed).toHaveBeenCalledOnce();
});
