// Which names a server answers to, and which pages may ask it.

import { describe, expect, test } from "vitest";
import { isLoopback } from "../../src/serve/hosts.ts";
import { createHandler } from "../../src/serve/index.ts";
import { ask, wordTagger } from "./support.ts";

/** Browsers do not let a page set Host, so the header is looked up here. */
function from(host: string | null, headers: Record<string, string> = {}, method = "POST"): Request {
  const request =
    method === "POST"
      ? ask({ text: "a" }, "/predict", headers)
      : new Request("http://localhost/predict", { method, headers });
  const own = request.headers;
  const found = new Map(Object.entries(headers));
  const get = (name: string): string | null => (name === "host" ? host : (found.get(name) ?? own.get(name)));
  return Object.defineProperty(request, "headers", { value: { get } });
}

describe("the name a server is asked by", () => {
  const own = [
    "localhost",
    "localhost:8080",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "127.0.0.1:1",
    "127.9.9.9",
    "[::1]:8080",
  ];
  const foreign = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8080",
    "evillocalhost",
    "192.168.0.1",
    "[::2]",
    "0.0.0.0",
    "",
  ];

  test("is one of this machine's, or one that was allowed", async () => {
    const handler = createHandler(wordTagger(), { hosts: ["Tagger.example", "10.0.0.7"] });
    for (const host of [...own, "tagger.example", "tagger.example:80", "10.0.0.7:99"])
      expect((await handler(from(host))).status).toBe(200);
    for (const host of foreign.filter(Boolean)) {
      const response = await handler(from(host));
      expect(response.status).toBe(421);
      expect(await response.text()).toMatch(/host: found .*, expected localhost or a name given to --allow-host/);
    }
    // Without Host it comes from no browser.
    expect((await handler(from(null))).status).toBe(200);
  });

  test("is any where no list was given", async () => {
    const handler = createHandler(wordTagger());
    for (const host of foreign) expect((await handler(from(host))).status).toBe(200);
  });

  test("is this machine's by its form", () => {
    for (const name of ["localhost", "127.0.0.1", "::1", "127.1.2.3"]) expect(isLoopback(name)).toBe(true);
    for (const name of ["0.0.0.0", "::", "example.org", "127.0.0.1.nip.io"]) expect(isLoopback(name)).toBe(false);
  });
});

describe("pages of other origins", () => {
  const origin = "https://page.example";
  const asking = { origin, "access-control-request-method": "POST" };
  const allowed = (response: Response): string | null => response.headers.get("access-control-allow-origin");

  test("may not ask unless they were named", async () => {
    const handler = createHandler(wordTagger());
    expect(allowed(await handler(from("localhost", { origin })))).toBe(null);
    expect((await handler(from("localhost", asking, "OPTIONS"))).status).toBe(405);
  });

  test("may ask when they were", async () => {
    for (const origins of [[origin], ["https://PAGE.example/"], ["*"]]) {
      const handler = createHandler(wordTagger(), { origins });
      const first = await handler(from("localhost", asking, "OPTIONS"));
      expect(first.status).toBe(204);
      expect(allowed(first)).toBe(origin);
      expect(first.headers.get("access-control-allow-methods")).toBe("POST");
      expect(first.headers.get("access-control-allow-headers")).toContain("content-type");
      const then = await handler(from("localhost", { origin }));
      expect([then.status, allowed(then), then.headers.get("vary")]).toEqual([200, origin, "origin"]);
    }
    const others = createHandler(wordTagger(), { origins: ["https://other.example"] });
    expect(allowed(await others(from("localhost", { origin })))).toBe(null);
    expect((await others(from("localhost", asking, "OPTIONS"))).status).toBe(405);
  });
});
