// Run by test/runtimes/wide.files.test.ts: the digest of the battery on wide cores.

import { createCore } from "../../src/core/index.ts";
import { batteryDigest } from "./battery.ts";

for (const threads of [1, 2]) {
  const core = await createCore({ threads, wide: true });
  console.log(JSON.stringify({ threads: core.threads, wide: core.wide, digest: await batteryDigest(core) }));
  core.dispose();
}
