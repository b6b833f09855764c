// Even coordinates for the mean: the root is one, the training goes through them and resumes in them.

import { describe, expect, test } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { joined } from "../../src/io/safetensors.ts";
import { inverseRoot } from "../../src/train/coordinates.ts";
import { randomNumbers } from "../support/numbers.ts";
import { modelDigest, tinyTraining, withFastClock } from "../support/training.ts";

describe("the inverse root", () => {
  test("turns a matrix of any scale into the identity, but for the ridge", async () => {
    const core = await createCore({ threads: 1 });
    const n = 17;
    for (const scale of [1e-6, 1, 1e6]) {
      const b = randomNumbers(n * n, 5);
      // A = B B' + I
      const a = new Float64Array(n * n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          let sum = i === j ? 1 : 0;
          for (let k = 0; k < n; k++) sum += (b[i * n + k] as number) * (b[j * n + k] as number);
          a[i * n + j] = scale * sum;
        }
      const root = inverseRoot(core, a, n);
      const ridge = (1e-4 * a.filter((_, at) => at % (n + 1) === 0).reduce((x, y) => x + y)) / n;
      // T (A + ridge I) T = I, T symmetric
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let k = 0; k < n; k++)
            for (let l = 0; l < n; l++) {
              const entry = (a[k * n + l] as number) + (k === l ? ridge : 0);
              sum += (root[i * n + k] as number) * entry * (root[l * n + j] as number);
            }
          expect(Math.abs(sum - (i === j ? 1 : 0))).toBeLessThan(1e-10);
        }
    }
    core.dispose();
  });

  test("takes a matrix without full rank", async () => {
    const core = await createCore({ threads: 1 });
    const root = inverseRoot(core, new Float64Array(25).fill(3), 5);
    expect(root.every(Number.isFinite)).toBe(true);
    core.dispose();
  });
});

describe("a training through the coordinates", () => {
  for (const kernel of ["se", "linear+se"] as const) {
    test(`${kernel}: the bound rises, and a resumed run ends at the same bytes`, async () => {
      const options = { kernel, mean: "inducing", epochs: 30 } as const;
      const bounds: number[] = [];
      const saved: Uint8Array[] = [];
      const whole = await withFastClock(() =>
        tinyTraining({
          ...options,
          checkpointSeconds: 30,
          onCheckpoint: (chunks) => void saved.push(joined(chunks)),
          onProgress: (each) => each.stage === "training" && bounds.push(each.bound),
        }),
      );
      const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
      expect(mean(bounds.slice(-10))).toBeGreaterThan(mean(bounds.slice(0, 5)) * 0.9);
      const resumed = await tinyTraining({ ...options, resume: saved[0] as Uint8Array });
      expect(await modelDigest(resumed)).toBe(await modelDigest(whole));
    });
  }
});
