// States: what is written is read, damage is found, parts add up, and documents are corrected and forgotten by id.

import { describe, expect, test } from "vitest";
import { FormatError } from "../../../src/base/errors.ts";
import { type Core, type Scope, scoped } from "../../../src/core/index.ts";
import { changeOf, type Documents, join, LearningError } from "../../../src/parts/regression/documents.ts";
import { LearnedRidge, learnChange } from "../../../src/parts/regression/learn.ts";
import { placeDocuments } from "../../../src/parts/regression/points.ts";
import { type RidgeChoice, solveRidge } from "../../../src/parts/regression/ridge.ts";
import { featuresIn, learnPoints } from "../../../src/parts/regression/sparse.ts";
import {
  captureState,
  type LearningState,
  mergeStates,
  planIdentity,
  restoreState,
  stateChunks,
  stateFromBytes,
  stateIdentity,
} from "../../../src/parts/regression/state.ts";
import { Statistics } from "../../../src/parts/regression/totals.ts";
import { randomProblem, unit } from "../../support/closed.ts";
import { coreKinds, withCore } from "../../support/cores.ts";
import { difference, listsOf, type Rows, rowsOf, sparseOf } from "../../support/lists.ts";

const columns = 9;
const choice: RidgeChoice = { noise: 0.4 };
const oneThread = coreKinds[0] as (typeof coreKinds)[number];
const plan = {
  identity: planIdentity(["words", Float32Array.of(1, 2, 3)]),
  features: columns,
  columns,
  about: { form: "sparse", jitter: 1e-4 },
};

/** Documents named a0, a1, ... with labels below `labels`. */
function documentsOf(seed: number, points: number, labels: number, name: string): Documents {
  const { X, Y } = randomProblem(seed, { points, features: columns, labels });
  const { rowStart, columnIndex, values } = sparseOf(X.map(unit), columns);
  return {
    ids: X.map((_, i) => `${name}${i}`),
    features: {
      rows: points,
      columns,
      rowStart: Int32Array.from(rowStart),
      columnIndex: Int32Array.from(columnIndex),
      values: Float32Array.from(values),
    },
    labels: { rows: points, labels, ...listsOf(Y) },
  };
}

/** Sums and solution of documents, from the beginning. */
async function solvedFor(core: Core, documents: Documents, labels: number, scope: Scope) {
  const placed = scope.keep(placeDocuments(core, documents, labels, { precision: "f64" }));
  const statistics = scope.keep(new Statistics(core, { features: columns, labels }));
  await learnPoints(statistics, featuresIn(placed.points.x), placed.labels);
  const solution = await solveRidge(statistics, choice, "f64", { keepExact: true });
  return { statistics, learned: scope.keep(LearnedRidge.from(statistics, solution)) };
}

async function stateOf(
  core: Core,
  documents: Documents,
  labels: number,
  labelNames?: string[],
): Promise<LearningState> {
  return await scoped(async (scope) => {
    const { statistics, learned } = await solvedFor(core, documents, labels, scope);
    return { ...captureState(plan, statistics, { learned, choice }), labelNames, documents };
  });
}

/** The file as one array. */
function bytesOf(state: LearningState): Uint8Array {
  const chunks = stateChunks(state);
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

/** A state from its file, without what is said of that. */
const readBack = (state: LearningState): LearningState => ({ ...stateFromBytes(bytesOf(state)), file: undefined });

const weightsOf = ({ weights }: LearnedRidge): Rows => rowsOf(weights.toArray(), weights.columns);

describe("the file of a state", () => {
  test("has what was put in, all sections or any of them", async () => {
    await withCore(oneThread, async (core) => {
      const state = await stateOf(core, documentsOf(1, 20, 4, "a"), 4, ["p", "q", "r", "s"]);
      expect(readBack(state)).toEqual(state);
      for (const section of ["totals", "sums", "solution", "documents", "labelNames"] as const) {
        const without = { ...state, [section]: undefined };
        expect(readBack(without)).toEqual(without);
        expect(stateIdentity(stateFromBytes(bytesOf(without)))).toBe(stateIdentity(without));
      }
    });
  });

  test("is refused in one sentence when it is damaged, cut short or something else", async () => {
    await withCore(oneThread, async (core) => {
      const state = await stateOf(core, documentsOf(1, 20, 4, "a"), 4);
      const bytes = bytesOf(state);
      const headerEnd = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
      for (let at = headerEnd; at < bytes.length; at += 97) {
        const damaged = bytes.slice();
        damaged[at] = damaged[at] ^ 4;
        expect(() => stateFromBytes(damaged, "s"), String(at)).toThrow(
          /^s: found (tensor .*|bytes that do not have the) checksum/,
        );
      }
      expect(() => stateFromBytes(bytes.subarray(0, bytes.length - 8), "s")).toThrow(FormatError);
      const altered = (from: string, to: string): Uint8Array => {
        const text = Array.from(bytes, (byte) => String.fromCharCode(byte))
          .join("")
          .replace(from, to);
        return Uint8Array.from(text, (character) => character.charCodeAt(0));
      };
      expect(() => stateFromBytes(altered("mlgpf-state", "mlgpf-stale"), "s")).toThrow(
        's: found format "mlgpf-stale", expected a state made by mlgpf',
      );
      expect(() => stateFromBytes(altered('"version":"4"', '"version":"7"'), "s")).toThrow(
        's: found version "7" of mlgpf-state, expected version 4',
      );
      expect(() => stateFromBytes(altered('\\"labels\\":4', '\\"labels\\":5'), "s")).toThrow(FormatError);
      expect(() => stateFromBytes(altered('\\"features\\":9', '\\"features\\":8'), "s")).toThrow(FormatError);
    });
  });

  test("knows how far it has learned", async () => {
    await withCore(oneThread, async (core) => {
      const [a, b] = [documentsOf(1, 20, 4, "a"), documentsOf(2, 5, 4, "b")];
      const identities = [await stateOf(core, a, 4), await stateOf(core, join(a, b), 4)].map(stateIdentity);
      expect(identities[0]).not.toBe(identities[1]);
    });
  });
});

describe("parts of a data set", () => {
  test("add up", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const [a, b] = [documentsOf(3, 20, 4, "a"), documentsOf(4, 15, 4, "b")];
        const names = ["p", "q", "r", "s"];
        const merged = mergeStates(await stateOf(core, a, 4, names), await stateOf(core, b, 4, names));
        expect(merged.labelNames).toEqual(names);
        expect(merged.solution).toBeUndefined();
        const whole = join(a, b);
        expect(merged.documents).toEqual(whole);
        const { statistics, learned } = await solvedFor(core, whole, 4, scope);
        const restored = scope.keep(restoreState(core, merged) as NonNullable<ReturnType<typeof restoreState>>);
        const sums = restored.totals as Statistics;
        expect(sums.points).toBe(35);
        expect([...sums.labelCounts]).toEqual([...statistics.labelCounts]);
        expect(difference([[...sums.cross.toArray()]], [[...statistics.cross.toArray()]])).toBeLessThan(1e-12);
        const solution = scope.keep(await solveRidge(sums, choice, "f64"));
        expect(difference(rowsOf(solution.weights.toArray(), 4), weightsOf(learned))).toBeLessThan(1e-10);
      });
    });
  });

  test("of another plan are refused", async () => {
    await withCore(oneThread, async (core) => {
      const [a, b] = [
        await stateOf(core, documentsOf(3, 9, 3, "a"), 3),
        await stateOf(core, documentsOf(4, 9, 3, "b"), 3),
      ];
      const other = { ...b, plan: { ...plan, identity: planIdentity(["other words"]) } };
      expect(() => mergeStates(a, other)).toThrow(/expected parts of one plan/);
      expect(() => mergeStates(a, other)).toThrow(LearningError);
    });
  });
});

describe("documents by id", () => {
  test("corrected, new and forgotten ones: as if the rest had been learned at once", async () => {
    await withCore(oneThread, async (core) => {
      await scoped(async (scope) => {
        const first = documentsOf(5, 30, 4, "a");
        const state = stateFromBytes(bytesOf(await stateOf(core, first, 4)));
        const weights = (await solvedFor(core, first, 4, scope)).learned.weights.toArray();
        const restored = scope.keep(restoreState(core, state, weights) as NonNullable<ReturnType<typeof restoreState>>);
        const learned = restored.learned as LearnedRidge;
        const fresh = documentsOf(6, 8, 6, "b");
        const coming = { ...fresh, ids: fresh.ids.map((id, i) => (i < 3 ? `a${10 * i}` : id)) };
        const change = changeOf(state.documents as Documents, { learn: coming, forget: ["a1", "a29"] });
        expect(change.corrected).toBe(3);
        expect(change.out.ids).toEqual(["a0", "a1", "a10", "a20", "a29"]);
        expect(change.after.ids.length).toBe(30 - 5 + 8);
        expect(change.after.labels.labels).toBe(6);
        await learnChange(learned, change);
        const atOnce = await solvedFor(core, change.after, 6, scope);
        expect(difference(weightsOf(learned), weightsOf(atOnce.learned))).toBeLessThan(1e-10);
        expect([...learned.totals.labelCounts]).toEqual([...atOnce.statistics.labelCounts]);
        expect(learned.totals.points).toBe(33);
      });
    });
  });

  test("that were never learned, stand twice or have no id are refused, and nothing is changed", () => {
    const known = documentsOf(7, 5, 3, "a");
    const fresh = documentsOf(8, 2, 3, "b");
    const refused: [Parameters<typeof changeOf>[1], string][] = [
      [{ forget: ["z"] }, 'found document "z" among those to forget, expected one that was learned'],
      [{ forget: [""] }, "found a document without an id among those to forget"],
      [{ forget: ["a1", "a1"] }, 'found document "a1" twice among those to forget'],
      [{ learn: { ...fresh, ids: ["b", "b"] } }, 'found document "b" twice, expected each id once'],
      [{ learn: { ...fresh, ids: ["a1", "b"] }, forget: ["a1"] }, 'found document "a1" both to learn and to forget'],
      [{ learn: { ...fresh, features: { ...fresh.features, columns: 10 } } }, "found documents of 10 features"],
    ];
    for (const [request, message] of refused) {
      expect(() => changeOf(known, request)).toThrow(message);
      expect(() => changeOf(known, request)).toThrow(LearningError);
    }
    // Without an id a document can still be learned, more than once.
    const nameless = changeOf(known, { learn: { ...fresh, ids: ["", ""] } });
    expect(nameless.after.ids).toEqual([...known.ids, "", ""]);
    expect(nameless.out.ids).toEqual([]);
  });
});
