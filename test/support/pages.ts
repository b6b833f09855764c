// A page in any of the browsers: it posts its outcome to the server that it came from.

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { type BrowserName, openBrowser } from "../../scripts/browsers.ts";

export const browsers: readonly BrowserName[] = ["chromium", "firefox", "webkit"];

const TYPES: Record<string, string> = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };
/** What a page must come with to have threads. */
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** How a page of a folder says in a script that it is done. */
export const POST = `const post = (outcome) => fetch("/outcome", { method: "POST", body: JSON.stringify(outcome) });`;

/** A page that says nothing for so long has failed. Less than a test's own limit, which would leave the browser running. */
const LIMIT = 100_000;

/** What the page `name` of a folder posts to /outcome. */
export async function outcomeOfPage<Outcome>(
  browser: BrowserName,
  folder: string,
  name = "index.html",
): Promise<Outcome> {
  let answer: (outcome: Outcome) => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const answered = new Promise<Outcome>((done, fail) => {
    answer = done;
    timer = setTimeout(() => fail(new Error(`${name} in ${browser}: found no outcome in ${LIMIT} ms`)), LIMIT);
  });
  const server = createServer(async (request, response) => {
    const path = join(folder, new URL(request.url ?? "/", "http://localhost").pathname);
    if (request.method === "POST") {
      const parts: Uint8Array[] = [];
      for await (const part of request) parts.push(part);
      response.end();
      answer(JSON.parse(Buffer.concat(parts).toString()));
    } else if (existsSync(path)) {
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "Content-Type": type, ...ISOLATION }).end(readFileSync(path));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  const open = openBrowser(browser, `http://127.0.0.1:${port}/${name}`);
  try {
    return await answered;
  } finally {
    clearTimeout(timer);
    await open.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}
