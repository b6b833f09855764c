// Sums in a fixed tree, however their terms are shared out.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { alone, onAny } from "../../src/mpi/communicator.ts";
import { labelPartition, mostRanks } from "../../src/mpi/partition.ts";
import { nodesOf, TreeSum } from "../../src/mpi/tree.ts";

const add = (left: number, right: number): number => Math.fround(left + right);

/** The definition, by recursion: node `index` of `level`, where some of its terms may not be there. */
function node(terms: readonly number[], level: number, index: number): number | undefined {
  if (level === 0) return terms[index];
  const left = node(terms, level - 1, 2 * index);
  const right = node(terms, level - 1, 2 * index + 1);
  return left === undefined || right === undefined ? (left ?? right) : add(left, right);
}

const terms = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 70 });

test("one sum is the tree's", () => {
  fc.assert(
    fc.property(terms, (values) => {
      const sum = new TreeSum(add);
      for (const [index, value] of values.entries()) sum.push({ level: 0, index, value });
      expect(sum.total()).toBe(node(values, 7, 0));
    }),
  );
});

test("sums of parts, added up, are the same for any parts", () => {
  fc.assert(
    fc.property(terms, fc.array(fc.nat(70)), (values, cuts) => {
      const ends = [...cuts.filter((cut) => cut < values.length).sort((a, b) => a - b), values.length];
      const whole = new TreeSum(add);
      let from = 0;
      for (const to of ends) {
        const part = new TreeSum(add);
        for (let index = from; index < to; index++) part.push({ level: 0, index, value: values[index] });
        const places = part.nodes().map(({ level, index }) => ({ level, index }));
        expect(nodesOf(from, to).map(({ level, index }) => ({ level, index }))).toEqual(places);
        for (const each of part.nodes()) whole.push(each);
        from = to;
      }
      expect(whole.total()).toBe(node(values, 7, 0));
    }),
  );
});

test("every label is of one rank, in blocks that do not depend on how many there are", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 64 }), (labels, size) => {
      const share = (rank: number): ReturnType<typeof labelPartition> =>
        labelPartition({ ...alone, size, rank }, labels);
      if (size > mostRanks(labels)) {
        expect(() => share(0)).toThrow(/expected at most/);
        return;
      }
      const { ranges, blocks, width } = share(0);
      expect(width).toBe(labelPartition(alone, labels).width);
      expect([ranges[0]?.from, ranges.at(-1)?.to]).toEqual([0, labels]);
      for (const [rank, { from, to }] of ranges.entries()) {
        expect(share(rank).own).toEqual({ from, to });
        expect(from).toBeLessThan(to);
        expect(from).toBe(rank === 0 ? 0 : ranges[rank - 1]?.to);
        expect(from).toBe((blocks[rank]?.from as number) * width);
      }
    }),
  );
});

test("a flag that is set on one rank is set for all", () => {
  expect(onAny(alone, [true, false])).toEqual([true, false]);
  const withOther = (...other: number[]) => ({
    ...alone,
    size: 2,
    allgather: (own: Uint8Array) => Uint8Array.of(...own, ...other),
  });
  expect(onAny(withOther(1, 0, 0), [false, false, true])).toEqual([true, false, true]);
  expect(onAny(withOther(0), [false])).toEqual([false]);
});
