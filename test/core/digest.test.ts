// The same bytes from every kernel, here and in every other runtime, for any number of threads.

import { describe, expect, test } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { batteryDigest } from "../support/battery.ts";
import { expectedDigest } from "../support/digest.ts";

describe("digest over all kernels", () => {
  for (const threads of [1, 2, 3]) {
    test(`is the recorded one with ${threads} ${threads === 1 ? "thread" : "threads"}`, async () => {
      const core = await createCore({ threads });
      // WebKitGTK shares no memory.
      expect(core.threads).toBe("SharedArrayBuffer" in globalThis ? threads : 1);
      const digest = await batteryDigest(core);
      core.dispose();
      expect(digest).toBe(expectedDigest);
    });
  }
});
