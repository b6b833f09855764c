// The host on node:http, over real sockets, in whatever runtime runs this test.

import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Limits } from "../../src/serve/limits.ts";
import { listen, type Running } from "../../src/serve/node.ts";
import { createService } from "../../src/serve/service.ts";
import type { Tagger } from "../../src/serve/tagger.ts";
import { wordsOf, wordTagger } from "./support.ts";

async function withServer(
  body: (server: Running) => Promise<void>,
  limits: Partial<Limits> = {},
  tagger: Tagger = wordTagger(),
): Promise<void> {
  const server = await listen(createService(tagger, limits), { host: "127.0.0.1", port: 0 });
  try {
    await body(server);
  } finally {
    await server.stop();
  }
}

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(`${url}/predict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

function dial(url: string): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => done(socket));
    socket.once("error", failed);
  });
}

/** All that a socket receives until the other side closes it. */
function received(socket: Socket): Promise<string> {
  return new Promise((done) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => done(text));
  });
}

const head = (length: number): string =>
  `POST /predict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

describe("over sockets", () => {
  test("answers questions, pages and refusals", () =>
    withServer(async ({ url }) => {
      const text = "één 日本 \u{1f600}";
      const answer = await post(url, { text });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ labels: wordsOf(text, { topK: 5 }) });
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect(await (await fetch(`${url}/health`, { method: "HEAD" })).text()).toBe("");
      const wrong = await fetch(`${url}/predict`);
      expect(wrong.status).toBe(405);
      expect(wrong.headers.get("allow")).toBe("POST");
      await wrong.text();
    }));

  test("loses none of many requests at once", () =>
    withServer(async ({ url }) => {
      const texts = Array.from({ length: 200 }, (_, i) => `text ${i}`);
      const answers = await Promise.all(texts.map(async (text) => (await post(url, { text })).json()));
      expect(answers).toEqual(texts.map((text) => ({ labels: wordsOf(text, { topK: 5 }) })));
    }));

  test("several requests down one connection are answered in order", () =>
    withServer(async ({ url }) => {
      const socket = await dial(url);
      const all = received(socket);
      const body = (i: number): string => JSON.stringify({ text: `word${i}` });
      socket.write([0, 1, 2].map((i) => `${head(body(i).length)}${body(i)}`).join(""));
      socket.write("GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
      const text = await all;
      expect([...text.matchAll(/"label":"(\w+)"/g)].map((match) => match[1])).toEqual([
        "word0",
        "word1",
        "word2",
      ]);
      expect(text).toContain('"status":"ok"');
    }));

  test("refuses a body that is too long, announced or not, and the client reads why", () =>
    withServer(
      async ({ url }) => {
        const answerTo = async (sends: (socket: Socket) => void): Promise<string> => {
          const socket = await dial(url);
          const all = received(socket);
          sends(socket);
          return await all;
        };
        const refusal = /^HTTP\/1.1 413 [\s\S]*more than 1000 bytes/;
        expect(await answerTo((socket) => socket.write(head(1e9)))).toMatch(refusal);
        // Many clients give up when they cannot send everything.
        let unsent: Error | null | undefined;
        const sendAll = (socket: Socket): void => {
          socket.write(`${head(8e6)}${"a".repeat(8e6)}`, (error) => {
            unsent = error;
          });
        };
        expect(await answerTo(sendAll)).toMatch(refusal);
        expect(unsent ?? undefined).toBe(undefined);
        const chunks = `64\r\n${"a".repeat(100)}\r\n`.repeat(20);
        const chunked = "POST /predict HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
        expect(await answerTo((socket) => socket.write(chunked + chunks))).toMatch(refusal);
      },
      { bodyBytes: 1000, seconds: 60 },
    ));

  test("gives up a client that is too slow with its body, and not the others", () =>
    withServer(
      async ({ url }) => {
        const socket = await dial(url);
        const all = received(socket);
        socket.write(`${head(100)}{"te`);
        expect((await post(url, { text: "quick" })).status).toBe(200);
        expect(await all).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*within 0.2 s/i);
      },
      { seconds: 0.2 },
    ));

  test("gives up a client that is too slow with its head", () =>
    withServer(
      async ({ url }) => {
        const socket = await dial(url);
        const all = received(socket);
        socket.write("POST /predict HTTP/1.1\r\nhos");
        expect(await all).toMatch(/^HTTP\/1.1 408 /);
      },
      { seconds: 0.2 },
    ));

  test("a client that goes away in the middle disturbs nobody", () =>
    withServer(async ({ url }) => {
      const socket = await dial(url);
      socket.write(`${head(100)}{"te`);
      socket.destroy();
      expect((await post(url, { text: "still there" })).status).toBe(200);
    }));
});

describe("stopping", () => {
  test("finishes what is under way, then refuses connections", async () => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    let entered = (): void => {};
    const under = new Promise<void>((done) => {
      entered = done;
    });
    const slow: Tagger = {
      labels: [],
      async predictMany(inputs, options) {
        entered();
        await held;
        return inputs.map((input) => wordsOf(input, options));
      },
    };
    const server = await listen(createService(slow), { host: "127.0.0.1", port: 0 });
    const answer = post(server.url, { text: "under way" });
    await under;
    const stopped = server.stop();
    release();
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get("connection")).toBe("close");
    expect(await response.json()).toEqual({ labels: wordsOf("under way", { topK: 5 }) });
    await stopped;
    expect(
      await post(server.url, { text: "too late" }).then(
        () => "answered",
        () => "refused",
      ),
    ).toBe("refused");
  });

  test("does not wait for connections that are idle", async () => {
    const server = await listen(createService(wordTagger()), { host: "127.0.0.1", port: 0 });
    const socket = await dial(server.url);
    const all = received(socket);
    socket.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((done) => socket.once("data", done));
    await server.stop();
    expect(await all).toContain('"status":"ok"');
  });
});
