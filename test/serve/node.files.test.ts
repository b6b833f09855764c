// The host on node:http, over real sockets, in whatever runtime runs this test.

import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { type Limits, projectOf, type Tagger } from "../../src/serve/index.ts";
import { listen, type Running } from "../../src/serve/node.ts";
import { Service } from "../../src/serve/service.ts";
import { wordsOf, wordTagger } from "./support.ts";

const serve = (tagger: Tagger, limits: Partial<Limits> = {}): Promise<Running> =>
  listen(new Service([projectOf(tagger)], { limits, hosts: [] }), { host: "127.0.0.1", port: 0 });

async function withServer(
  body: (server: Running) => Promise<void>,
  limits: Partial<Limits> = {},
  tagger: Tagger = wordTagger(),
): Promise<void> {
  const server = await serve(tagger, limits);
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

const soon = (): Promise<void> => new Promise((done) => setTimeout(done, 10));

/** Its answers to a thousand texts are more than what the system takes for a client that does not read. */
const wide: Tagger = {
  labels: new Array<string>(50),
  predictMany: (inputs) =>
    inputs.map(() => Array.from({ length: 50 }, (_, i) => ({ label: `${i} ${"wide".repeat(100)}`, probability: 0.5 }))),
};

const head = (length: number): string =>
  `POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

describe("over sockets", () => {
  test("an answer is whole though what was sent behind it ends the connection", () =>
    withServer(
      async ({ url }) => {
        for (let round = 0; round < 5; round++) {
          const socket = await dial(url);
          socket.pause();
          const texts = JSON.stringify(Array.from({ length: 16 }, () => ({ text: "a" })));
          const refused = "POST /health HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
          socket.write(`${head(texts.length)}${texts}${refused}5\r\nhello\r\n`);
          await soon();
          const more = "x".repeat(300_000);
          socket.write(`0\r\n\r\n${head(more.length)}${more}`);
          for (let i = 0; i < 10; i++) await soon();
          const all = received(socket);
          socket.resume();
          const [, length, rest] = /content-length: (\d+)\r\n.*?\r\n\r\n(.*)/s.exec(await all) ?? [];
          expect(Number(length)).toBeGreaterThan(200_000);
          expect(rest?.length).toBeGreaterThanOrEqual(Number(length));
        }
      },
      {},
      wide,
    ));

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
      socket.write("GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
      const text = await all;
      expect([...text.matchAll(/"label":"(\w+)"/g)].map((match) => match[1])).toEqual(["word0", "word1", "word2"]);
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
        const chunked =
          "POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
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
        expect(await all).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*within 1 s/i);
      },
      { seconds: 1 },
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

  test("gives up a client that does not take its answer, and counts it until then", () =>
    withServer(
      async ({ url }) => {
        const numbers = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
        const body = JSON.stringify({ texts: new Array(1000).fill("long"), topK: 50 });
        const socket = await dial(url);
        socket.on("error", () => {});
        socket.pause();
        socket.write(head(body.length) + body);
        let during = "";
        while (!/held_bytes [1-9]/.test(during)) during = await numbers();
        expect(during).toContain("mlgpf_requests_in_flight 2\n");
        expect((await post(url, { text: "others" })).status).toBe(200);
        while (!/answers_dropped_total 1\n/.test(await numbers())) await soon();
        const after = await numbers();
        expect(after).toContain("mlgpf_requests_in_flight 1\n");
        expect(after).toContain("mlgpf_held_bytes 0\n");
        socket.destroy();
      },
      { seconds: 1 },
      wide,
    ));

  test("one connection does not get all places by not waiting for its answers", () =>
    withServer(
      async ({ url }) => {
        const socket = await dial(url);
        const all = received(socket);
        const body = JSON.stringify({ text: "a" });
        socket.write((head(body.length) + body).repeat(100));
        expect((await post(url, { text: "others" })).status).toBe(200);
        socket.end();
        const statuses = [...(await all).matchAll(/^HTTP\/1.1 (\d+)/gm)].map((match) => match[1]);
        const refused = statuses.indexOf("503");
        expect(statuses.slice(0, refused < 0 ? 100 : refused).every((status) => status === "200")).toBe(true);
        // A runtime may take one after the other, and then refuses none.
        expect(refused === -1 ? statuses.length : refused).toBeGreaterThan(15);
      },
      { requests: 20 },
    ));

  test("several refused requests at once from a client that goes away do not end the server", () =>
    withServer(async ({ url }) => {
      const refused = "POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n12345";
      for (let i = 0; i < 50; i++) {
        const socket = await dial(url);
        socket.on("error", () => {});
        socket.write(refused.repeat(4), () => socket.destroy());
      }
      expect((await post(url, { text: "still there" })).status).toBe(200);
      await soon();
      expect((await post(url, { text: "still there" })).status).toBe(200);
    }));

  test("answers to this machine's names alone", () =>
    withServer(async ({ url }) => {
      const socket = await dial(url);
      const all = received(socket);
      socket.write("GET /health HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
      expect(await all).toMatch(/^HTTP\/1.1 421 [\s\S]*host: found \\"evil.example\\"/);
    }));

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
    const server = await serve(slow);
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

  test("ends in time whatever connections do, and says what it dropped", { tags: "long" }, async () => {
    const never: Tagger = {
      labels: new Array<string>(50),
      predictMany: (inputs, options) =>
        inputs[0] === "never" ? new Promise(() => {}) : wide.predictMany(inputs, options),
    };
    const server = await serve(never, { seconds: 3 });
    const dialled = async (text: string): Promise<void> => {
      const socket = await dial(server.url);
      socket.on("error", () => {});
      socket.pause();
      socket.write(text);
    };
    const unread = JSON.stringify({ texts: new Array(1000).fill("long"), topK: 50 });
    await dialled(head(unread.length) + unread);
    while (!/held_bytes [1-9]/.test(await (await fetch(`${server.url}/metrics`)).text())) await soon();
    const unanswered = JSON.stringify({ text: "never" });
    await dialled(head(unanswered.length) + unanswered);
    await dialled("");
    await dialled("POST /predict HT");
    await (await fetch(`${server.url}/health`)).text();
    expect((await server.stop()).requests).toBe(2);
  });

  test("does not wait for connections that are idle", async () => {
    const server = await serve(wordTagger());
    const socket = await dial(server.url);
    const all = received(socket);
    socket.write("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await new Promise((done) => socket.once("data", done));
    await server.stop();
    expect(await all).toContain('"status":"ok"');
  });
});
