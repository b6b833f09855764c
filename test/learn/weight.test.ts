// A document that counts as several: as if there were so many of it, undone by as much, and kept with the state.

import { describe, expect, test } from "vitest";
import { readSafetensors } from "../../src/base/safetensors.ts";
import { forget, learn } from "../../src/learn/learn.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { stateFromBytes, stateToBytes } from "../../src/parts/regression/state.ts";
import { difference } from "../support/lists.ts";
import { both, expectedScores, namedData, rowsFrom, scoresOf, taught } from "./support.ts";

const TOLERANCE = 1e-5;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const sizes = { features: 30, labels: 6 };
const probe = namedData({ points: 25, ...sizes }, 11).features;

const forms = [
  {
    form: "gpr",
    start: 90,
    data: namedData({ points: 110, ...sizes }, 5),
    options: { model: "gpr" },
  },
  { form: "linear", start: 2100, data: namedData({ points: 2120, ...sizes }, 7), options: both },
] as const;

for (const { form, start, data, options } of forms)
  describe(`a document that counts as three, with a part of family ${form}`, () => {
    test("is as three of it, until it is forgotten or corrected, whatever is read back from files", async () => {
      const first = await taught(rowsFrom(data, range(0, start)), options);
      expect(first.model.parts[0].family).toBe(form);
      const before = await scoresOf(first.model, probe);
      const some = rowsFrom(data, range(start, start + 4));
      const learned = await learn(first.model, first.state, some, { weight: 3, threads: 1 });
      const copies = [0, 1, 2, 3].flatMap((i) => [start + i, start + i, start + i]);
      const expected = expectedScores(learned.model, rowsFrom(data, [...range(0, start), ...copies]), probe);
      expect(difference(await scoresOf(learned.model, probe), expected)).toBeLessThan(TOLERANCE);
      expect(difference(expected, before)).toBeGreaterThan(1e-3);
      expect(learned.learned).toBe(4);
      expect(learned.model.schema.points).toBe(start + 12);

      const bytes = stateToBytes(learned.state);
      const state = stateFromBytes(bytes);
      expect({ ...state, file: undefined }).toEqual({ ...learned.state, file: undefined });
      const model = modelFromBytes(modelToBytes(learned.model));
      const ids = some.ids as string[];
      const back = await forget(model, state, ids, { threads: 1 });
      expect(difference(await scoresOf(back.model, probe), before)).toBeLessThan(TOLERANCE);
      expect([...back.model.schema.labelCounts]).toEqual([...first.model.schema.labelCounts]);

      // Of the second document there is now one, with the text and labels of another.
      const other = { ...rowsFrom(data, [start + 9]), ids: [ids[1]] };
      const corrected = await learn(model, state, other, { threads: 1 });
      const kept = [...range(0, start), ...copies.filter((row) => row !== start + 1), start + 9];
      const then = expectedScores(corrected.model, rowsFrom(data, kept), probe);
      expect(difference(await scoresOf(corrected.model, probe), then)).toBeLessThan(TOLERANCE);
      expect(corrected).toMatchObject({ learned: 1, corrected: 1 });
    });
  });

test("a weight that cannot be is refused, and nothing changes; each document may have its own", async () => {
  const { data, start, options } = forms[0];
  const { model, state } = await taught(rowsFrom(data, range(0, start)), options);
  const some = rowsFrom(data, range(start, start + 2));
  for (const weight of [0, -1, 1.5, 1001, Number.NaN])
    await expect(learn(model, state, some, { weight })).rejects.toThrow(
      `found weight ${weight}, expected a whole number from 1 to 1000`,
    );
  await expect(learn(model, state, some, { weight: [1] })).rejects.toThrow("found 1 weights, expected 2");
  const plain = await learn(model, state, some, { weight: [1, 1], threads: 1 });
  expect(readSafetensors(stateToBytes(plain.state)).tensors.has("documents.weights")).toBe(false);
  const mixed = await learn(model, state, some, { weight: [1, 2], threads: 1 });
  const rows = rowsFrom(data, [...range(0, start), start, start + 1, start + 1]);
  const expected = expectedScores(mixed.model, rows, probe);
  expect(difference(await scoresOf(mixed.model, probe), expected)).toBeLessThan(TOLERANCE);
});
