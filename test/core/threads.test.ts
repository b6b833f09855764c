// How many threads there are, and why.

import { describe, expect, test } from "vitest";
import { ArgumentError, createCore, gemm, matrix } from "../../src/core/index.ts";

describe("threads", () => {
  test("as many as asked for, said in words", async () => {
    for (const threads of [1, 2, 3]) {
      const core = await createCore({ threads });
      expect(core.threads).toBe(threads);
      expect(core.threadsReason).toContain("as asked");
      core.dispose();
    }
    const automatic = await createCore();
    expect(automatic.threads).toBeGreaterThanOrEqual(1);
    expect(automatic.threadsReason.length).toBeGreaterThan(10);
    automatic.dispose();
  });

  test("a number that makes no sense is refused", async () => {
    for (const threads of [0, -1, 1.5, Number.NaN]) {
      await expect(createCore({ threads })).rejects.toThrow(ArgumentError);
    }
  });

  test("a kernel that traps on any thread throws, and nothing waits for it for ever", async () => {
    for (let round = 0; round < 8; round++) {
      const core = await createCore({ threads: 3 });
      // The last numbers lie beyond the memory: whoever takes the last task traps.
      const [count, end] = [2 ** 19, core.memory.buffer.byteLength];
      const place = end - 4 * count + 64;
      expect(() => core.kernels.f32.predictiveProbability(count, place, place, 0, 0, 0, place)).toThrow();
      core.dispose();
    }
  });

  test("cores come and go without getting into each other's way", async () => {
    const cores = await Promise.all([2, 2, 3].map((threads) => createCore({ threads })));
    const products = cores.map((core) => {
      const a = matrix(core, 200, 200).set(Float32Array.from({ length: 40_000 }, (_, i) => (i % 17) - 8));
      return gemm(a, a, matrix(core, 200, 200)).toArray();
    });
    expect(products[1]).toEqual(products[0]);
    expect(products[2]).toEqual(products[0]);
    for (const core of cores) core.dispose();
  });
});
