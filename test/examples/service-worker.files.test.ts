// The page with a service worker in Chromium: it tags a text, and still does when its server is gone.
// @module-tag long

import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { bundle, inProject, QUESTION } from "./support.ts";

const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

function serve(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const file = join(folder, request.url === "/" ? "index.html" : (request.url ?? ""));
    if (!existsSync(file)) response.writeHead(404).end();
    else response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream").end(readFileSync(file));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

describe("examples", () => {
  test("service-worker", () =>
    inProject("service-worker", async (folder, expected) => {
      await bundle(folder, { entryPoints: ["sw.js"], outfile: "out.js" });
      copyFileSync("dist/edge.wasm", join(folder, "edge.wasm"));
      const server = await serve(folder);
      const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM_PATH || "/usr/bin/chromium",
        args: ["--no-sandbox"],
      });
      try {
        const page = await browser.newPage();
        const tags = async (): Promise<string[]> => {
          await page.fill("input", QUESTION);
          await page.click("button:enabled");
          await page.waitForSelector("li");
          return await page.locator("li").allTextContents();
        };
        const lines = expected.map(({ label, probability }) => `${label} ${probability.toFixed(3)}`);
        await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
        expect(await tags()).toEqual(lines);
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
        await page.reload();
        expect(await tags()).toEqual(lines);
      } finally {
        await browser.close();
        server.closeAllConnections();
        server.close();
      }
    }));
});
