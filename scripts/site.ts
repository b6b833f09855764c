// `npm run site`: builds the page into site/dist and serves it. `-- --build` only builds; `-- --port 9000` picks the
// port; `-- --plain` serves without the headers that threads need.

import { parseArgs } from "node:util";
import { buildSite, MOST_CODE } from "../site/tools/build.ts";
import { serveSite } from "../site/tools/serve.ts";

const FOLDER = "site/dist";
const PORT = 8080;

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`.padStart(10);

async function build(): Promise<void> {
  const { files, code } = await buildSite(FOLDER);
  for (const { name, bytes, packed } of files)
    console.log(`  ${name.padEnd(34)} ${kilobytes(bytes)} ${kilobytes(packed)} gzip`);
  console.log(`  the page's own code: ${kilobytes(code).trim()} gzip, at most ${MOST_CODE / 1000} kB`);
  if (code > MOST_CODE) throw new Error(`found ${code} bytes of code, expected at most ${MOST_CODE}`);
}

/** Without a port that was asked for, any free one will do. */
async function serve(asked: string | undefined, isolated: boolean): Promise<void> {
  const port = Number(asked ?? PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new Error(`--port: found ${asked}, expected a number from 0 to 65535`);
  const { url } = await serveSite(FOLDER, { port, isolated }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    if (asked !== undefined) throw new Error(`--port: found ${port} taken, expected a free one`);
    return serveSite(FOLDER, { port: 0, isolated });
  });
  console.log(`\n  ${url} (Ctrl-C ends it)`);
}

try {
  const { values } = parseArgs({
    options: { build: { type: "boolean" }, plain: { type: "boolean" }, port: { type: "string" } },
  });
  await build();
  if (!values.build) await serve(values.port, !values.plain);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
