// Memory: nothing leaks, neighbours stay apart, running out says what was asked for.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cholesky, createCore, gemm, matrix, OutOfMemoryError, scoped } from "../../src/core/index.ts";
import { coreKinds, withCore } from "../support/cores.ts";
import { generator } from "../support/numbers.ts";

describe("memory", () => {
  for (const kind of coreKinds) {
    test(`10,000 operations leave nothing behind, ${kind.name}`, async () => {
      await withCore(kind, (core) => {
        const work = (): void =>
          scoped((scope) => {
            const a = scope.keep(matrix(core, 5, 5));
            const b = scope.keep(matrix(core, 5, 5)).set([...Array(25).keys()].map((i) => (i % 6 === 0 ? 9 : 1)));
            gemm(b, b, a, { transposeB: true });
            cholesky(a);
          });
        work();
        const { used, capacity } = core.arena;
        for (let i = 0; i < 5000; i++) work();
        expect(core.arena.used).toBe(used);
        expect(core.arena.capacity).toBe(capacity);
      });
    });
  }

  test("blocks never overlap and are all given back, in any order", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 60 }), fc.nat(), (sizes, seed) => {
          const before = core.arena.used;
          const next = generator(seed);
          const held: { address: number; bytes: number }[] = [];
          for (const bytes of sizes) {
            if (held.length > 0 && next() < 0.4) {
              const [gone] = held.splice(Math.floor(next() * held.length), 1);
              core.arena.release((gone as { address: number }).address);
            }
            const address = core.arena.allocate(bytes, "a test block");
            for (const other of held)
              expect(address + bytes <= other.address || other.address + other.bytes <= address).toBe(true);
            expect(address + bytes).toBeLessThanOrEqual(core.arena.capacity);
            held.push({ address, bytes });
          }
          for (const { address } of held) core.arena.release(address);
          expect(core.arena.used).toBe(before);
        }),
      );
    });
  });

  test("running out names what was asked for and how much there is", async () => {
    const core = await createCore({ threads: 1, maximumMemory: 64 * 2 ** 20 });
    const used = core.arena.used;
    expect(() => matrix(core, 5000, 5000)).toThrow(OutOfMemoryError);
    expect(() => matrix(core, 5000, 5000)).toThrow(
      /a 5000 x 5000 matrix of f32 needs 95\.4 MB, but \d+\.\d MB are in use and the memory of .* \(its limit is 64\.0 MB\)/,
    );
    expect(core.arena.used).toBe(used);
    // It still works within its limit.
    matrix(core, 1000, 1000).free();
    core.dispose();
  });

  test("a freed matrix is refused", async () => {
    await withCore(coreKinds[0] as (typeof coreKinds)[number], (core) => {
      const a = matrix(core, 2, 2);
      const view = a.rowRange(0, 1);
      a.free();
      expect(() => gemm(a, a, a)).toThrow("found one that was freed");
      expect(() => view.toArray()).toThrow("found one that was freed");
      expect(() => view.free()).toThrow("found a view");
    });
  });
});
