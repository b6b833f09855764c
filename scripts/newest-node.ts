// The package `node` is the newest Node with long-term support: the tests run the digests in it. npm links it as
// node_modules/.bin/node, where `npm run` and npx would find it before the Node of the person who types: every build removes
// that link. It can go when npm can be told not to link a package.

import { rmSync } from "node:fs";
import { resolve } from "node:path";

export const newestNode: string = resolve("node_modules/node/bin/node");

export function unlinkNewestNode(): void {
  rmSync("node_modules/.bin/node", { force: true });
}
