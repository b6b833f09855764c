// Data at an address with user, password and query: they go to the server, and into nothing that a command says or writes.

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { inFolder, mlgpf } from "./support.ts";

const DOCUMENTS = Array.from({ length: 40 }, (_, i) =>
  JSON.stringify({
    text: `${i % 2 ? "whiskers paw" : "sail mast"} number ${i % 7}`,
    labels: [i % 2 ? "cats" : "ships"],
  }),
).join("\n");

test("a password in an address is in no message and in no file", async () => {
  const server = createServer((_, response) => response.end(DOCUMENTS));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const data = `http://someone:secret@127.0.0.1:${port}/docs?token=secret`;
  try {
    await inFolder(async (path) => {
      const model = path("tagger");
      const files = ["--report", path("r.html"), "--audit", path("a.html"), "--state", path("state")];
      for (const args of [
        ["train", data, "--valid", data, "--model", "gpr", "--out", model, ...files],
        ["predict", model, data],
        ["eval", model, data, "--report", path("e.html")],
        ["audit", model, data, "--out", path("b.html")],
      ]) {
        const { code, out, err } = await mlgpf(args);
        expect(code, err).toBe(0);
        expect(out + err).not.toMatch(/someone|secret/);
      }
      const folder = dirname(model);
      const written = readdirSync(folder);
      expect(written).toHaveLength(6);
      for (const file of written) expect(readFileSync(join(folder, file), "latin1")).not.toMatch(/someone|secret/);
    });
  } finally {
    server.close();
  }
});
