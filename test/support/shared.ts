// Reference data that lies beside the repository in some places; tests that need it say so where it is not.

import { existsSync, readFileSync } from "node:fs";

/** The bytes of a file under ../shared, or undefined where there is none. */
export function sharedFile(path: string): Uint8Array | undefined {
  const full = `../shared/${path}`;
  if (existsSync(full)) return readFileSync(full);
  console.log(`skipped: ${full} is not here`);
  return undefined;
}
