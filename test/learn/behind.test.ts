// What a linear model learns goes behind the end of its state's file, and read again it is the whole state.

import { expect, test } from "vitest";
import { joined } from "../../src/base/safetensors.ts";
import { forget, type Learned, learn } from "../../src/learn/learn.ts";
import {
  type LearningState,
  stateContent,
  stateFromBytes,
  stateIdentity,
  stateToBytes,
} from "../../src/parts/regression/state.ts";
import { both, namedData, rowsFrom, taught } from "./support.ts";

const points = 2120;
const data = namedData({ points, features: 300, labels: 8 }, 3);
const rows = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const threads = { threads: 1 };

const withoutFile = (state: LearningState): LearningState => ({ ...state, file: undefined });

/** The file with what a state has more than it. */
function written(file: Uint8Array, state: LearningState): { bytes: Uint8Array; added: number; isWhole: boolean } {
  const { content, behind } = stateContent(state);
  const added = joined(content);
  return { bytes: joined([file.subarray(0, behind ?? 0), added]), added: added.length, isWhole: behind === undefined };
}

async function start(): Promise<{ now: Pick<Learned, "model" | "state">; bytes: Uint8Array }> {
  const { model, state } = await taught(rowsFrom(data, rows(0, 2100)), both);
  const bytes = stateToBytes(state);
  return { now: { model, state: stateFromBytes(bytes) }, bytes };
}

/** The same bytes from an odd place on: in a Buffer where there are some. */
function atOddPlace(bytes: Uint8Array): Uint8Array {
  const { Buffer } = globalThis as { Buffer?: { from(bytes: Uint8Array): Uint8Array } };
  const all = new Uint8Array(1 + bytes.length);
  all.set(bytes, 1);
  return (Buffer?.from(all) ?? all).subarray(1);
}

test("lessons, corrections and forgetting, in one process or read again each time", async () => {
  const { now: first, bytes: begun } = await start();
  const lessons: ((now: Pick<Learned, "model" | "state">) => Promise<Learned>)[] = [
    ({ model, state }) => learn(model, state, rowsFrom(data, rows(2100, 2105)), threads),
    ({ model, state }) => {
      const corrected = { ...rowsFrom(data, rows(2104, 2108)), ids: ["d7", "d2100", "new", ""] };
      return learn(model, state, corrected, threads);
    },
    ({ model, state }) => forget(model, state, ["d0", "d2101", "new"], threads),
    ({ model, state }) => {
      const { features } = rowsFrom(data, rows(2110, 2112));
      const labelNames = [...(data.labelNames as string[]), "a new one"];
      const labels = { rows: 2, labels: 9, rowStart: Int32Array.of(0, 1, 2), labelIndex: Int32Array.of(8, 0) };
      return learn(model, state, { ...data, features, labels, labelNames, ids: ["x", "y"] }, threads);
    },
  ];
  let [apart, together, bytes] = [first, first, begun];
  for (const [i, lesson] of lessons.entries()) {
    apart = await lesson(apart);
    together = await lesson(together);
    const next = written(bytes, apart.state);
    expect(next.isWhole).toBe(false);
    expect(next.added).toBeLessThan(begun.length / 3);
    ({ bytes } = next);
    // In memory of its own, and beginning at an odd place, as a Buffer may, whose slices are no copies.
    const read = stateFromBytes(i % 2 === 0 ? bytes : atOddPlace(bytes));
    expect(withoutFile(read), String(i)).toEqual(withoutFile(apart.state));
    expect(stateIdentity(read)).toBe(apart.model.summary.learning?.state);
    apart = { model: apart.model, state: read };
    // All lessons so far, behind the first file at once.
    expect(withoutFile(stateFromBytes(written(begun, together.state).bytes))).toEqual(withoutFile(read));
  }
});

test("where C takes up its directions, or after many changes, all is written anew", async () => {
  const { now, bytes } = await start();
  const many = await learn(now.model, now.state, rowsFrom(data, rows(2000, 2100)), threads);
  expect(many.state.solution?.pending).toEqual([]);
  expect(written(bytes, many.state).isWhole).toBe(true);
  let state = stateFromBytes(bytes);
  let [file, changes] = [bytes, 0];
  for (let next = written(file, state); !next.isWhole; next = written(file, state), changes++) {
    file = next.bytes;
    state = stateFromBytes(file);
  }
  expect(changes).toBe(64);
  expect(withoutFile(state)).toEqual(withoutFile(now.state));
});

test("changes that are damaged, missing or in another order are refused", async () => {
  const { now, bytes } = await start();
  const one = await learn(now.model, now.state, rowsFrom(data, rows(2100, 2103)), threads);
  const first = written(bytes, one.state).bytes;
  const two = await learn(one.model, stateFromBytes(first), rowsFrom(data, rows(2103, 2105)), threads);
  const second = written(first, two.state).bytes;
  expect(stateFromBytes(second).documents?.ids.slice(-2)).toEqual(["d2103", "d2104"]);
  const refused = (file: Uint8Array, message: RegExp): void => expect(() => stateFromBytes(file, "s")).toThrow(message);
  const tail = second.subarray(first.length);
  refused(joined([bytes, tail]), /^s: found a change that does not follow what stands before it, expected/);
  refused(joined([second, tail]), /^s: found a change that does not follow/);
  for (let at = bytes.length + 1000; at < second.length; at += 997) {
    const damaged = second.slice();
    damaged[at] = damaged[at] ^ 2;
    refused(damaged, /^s: found /);
  }
  refused(second.subarray(0, second.length - 1), /^s: found /);
});
