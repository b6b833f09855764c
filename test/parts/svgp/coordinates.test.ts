// Even coordinates for the mean: the training goes through them and resumes in them.

import { describe, expect, test } from "vitest";
import { joined } from "../../../src/base/safetensors.ts";
import { modelDigest, tinyTraining, withFastClock } from "../../support/training.ts";

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
      const resumed = await tinyTraining({ ...options, resume: saved[0] });
      expect(await modelDigest(resumed)).toBe(await modelDigest(whole));
    });
  }
});
