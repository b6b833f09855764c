// The page's server: the files of its folder with their types, the headers that threads need, and nothing else.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serveSite } from "../../site/tools/serve.ts";

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), "mlgpf-serve-"));
  const folder = join(parent, "page");
  mkdirSync(folder);
  writeFileSync(join(parent, "secret.txt"), "not for you");
  writeFileSync(join(folder, "index.html"), "<p>hello</p>");
  writeFileSync(join(folder, "core.wasm"), Uint8Array.of(0, 97, 115, 109));
  try {
    await body(folder);
  } finally {
    rmSync(parent, { recursive: true });
  }
}

describe("the page's server", () => {
  test("gives files with their types and, when asked, the headers of isolation", () =>
    withFolder(async (folder) => {
      for (const isolated of [true, false]) {
        const server = await serveSite(folder, { port: 0, isolated });
        try {
          const page = await fetch(server.url);
          expect(await page.text()).toBe("<p>hello</p>");
          expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
          expect(page.headers.get("cross-origin-opener-policy")).toBe(isolated ? "same-origin" : null);
          expect(page.headers.get("cross-origin-embedder-policy")).toBe(isolated ? "require-corp" : null);
          const wasm = await fetch(`${server.url}core.wasm`);
          expect(wasm.headers.get("content-type")).toBe("application/wasm");
          expect((await wasm.arrayBuffer()).byteLength).toBe(4);
          expect(wasm.headers.get("content-encoding")).toBe("gzip");
          const plain = await fetch(server.url, { headers: { "Accept-Encoding": "identity" } });
          expect(plain.headers.get("content-encoding")).toBe(null);
          expect(await plain.text()).toBe("<p>hello</p>");
        } finally {
          await server.close();
        }
      }
    }));

  test("gives nothing from outside the folder", () =>
    withFolder(async (folder) => {
      const server = await serveSite(folder, { port: 0, isolated: true });
      try {
        for (const path of ["missing.js", "..%2Fsecret.txt", "..", "%2e%2e/secret.txt", "page/../../secret.txt"]) {
          const response = await fetch(`${server.url}${path}`);
          const text = await response.text();
          expect(`${path} ${text.includes("not for you")}`).toBe(`${path} false`);
          if (new URL(`${server.url}${path}`).pathname !== "/") expect(response.status).toBe(404);
        }
      } finally {
        await server.close();
      }
    }));
});
