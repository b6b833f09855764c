// npm run digest: records the digest of the kernels as they are now. Run it after changing what a kernel computes.

import { writeFileSync } from "node:fs";
import { createCore } from "../src/core/index.ts";
import { batteryDigest } from "../test/support/battery.ts";

const core = await createCore({ threads: 1 });
const digest = await batteryDigest(core);
core.dispose();
writeFileSync(
  "test/support/digest.ts",
  `// Digest of the battery over all kernels, recorded by npm run digest. Every runtime must give this one.\nexport const expectedDigest: string = "${digest}";\n`,
);
console.log(digest);
