// A small static server for the page, with gzip as static hosts have it. With the COOP and COEP headers the page may use threads.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".gz": "application/gzip",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Files that are packed already. */
const PACKED = [".gz", ".woff2"];

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export interface ServeOptions {
  /** 0 takes any that is free. */
  port: number;
  /** Send the headers that threads need. */
  isolated: boolean;
}

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** Serves the files of a folder on this machine only. */
export async function serveSite(folder: string, { port, isolated }: ServeOptions): Promise<Served> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = pathname.replace(/\/$/, "/index.html").slice(1);
    // Names of files in this folder and the folders in it, and nothing else.
    const inside = name.split("/").every((part) => /^[\w-][\w.~-]*$/.test(part));
    const bytes = inside ? await readFile(join(folder, name)).catch(() => undefined) : undefined;
    if (bytes === undefined) {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("not found\n");
      return;
    }
    const packs = !PACKED.includes(extname(name)) && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
    response.writeHead(200, {
      ...(packs && { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }),
      "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
      "Cache-Control": "no-cache",
      // Models are opened by links from pages elsewhere.
      "Access-Control-Allow-Origin": "*",
      ...(isolated ? ISOLATION : {}),
    });
    response.end(packs ? await promisify(gzip)(bytes) : bytes);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
