// `npm run site`: builds the page and the documents into site/dist and serves them. `-- --build` only builds, for any static host;
// `-- --base /mlgpf/` is the path that it will be served under; `-- --port 9000` picks the port; `-- --plain` serves without the headers
// that threads need.

import { parseArgs } from "node:util";
import { buildDocs, buildSite, MOST_CODE, MOST_TAGGER } from "../site/tools/build.ts";
import { serveSite } from "../site/tools/serve.ts";

const FOLDER = "site/dist";
const PORT = 8080;

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`.padStart(10);

async function build(base: string): Promise<void> {
  const { files, code } = await buildSite(FOLDER);
  for (const { name, bytes, packed } of files)
    console.log(`  ${name.padEnd(34)} ${kilobytes(bytes)} ${kilobytes(packed)} gzip`);
  console.log(`  the page's own code: ${kilobytes(code).trim()} gzip, at most ${MOST_CODE / 1000} kB`);
  const tagger = files.filter(({ name }) => name.startsWith("tagger.")).reduce((sum, { packed }) => sum + packed, 0);
  console.log(`  the tagger: ${kilobytes(tagger).trim()} gzip, at most ${MOST_TAGGER / 1000} kB`);
  if (tagger > MOST_TAGGER) throw new Error(`found ${tagger} bytes of tagger, expected at most ${MOST_TAGGER}`);
  await buildDocs(FOLDER, base);
  console.log(`  documents in ${FOLDER}/docs`);
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
    options: {
      base: { type: "string", default: "/" },
      build: { type: "boolean" },
      plain: { type: "boolean" },
      port: { type: "string" },
    },
  });
  if (!/^\/(.*\/)?$/.test(values.base)) throw new Error(`--base: found ${values.base}, expected a path like /mlgpf/`);
  await build(values.base);
  if (!values.build) await serve(values.port, !values.plain);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
