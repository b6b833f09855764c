// Fifty clients that mean no good, for so many seconds: slow heads, slow bodies, answers that are never read, and the
// largest batches that a server takes. A program of its own, so that it does not slow down the honest ones' clock.
//   node scripts/ts.mjs bench/trust/hostile.ts PORT SECONDS

import { connect, type Socket } from "node:net";

const [port = 0, seconds = 10] = process.argv.slice(2).map(Number);
const end = performance.now() + seconds * 1000;
const CLIENTS = { slowHeads: 10, slowBodies: 10, unread: 15, maximal: 15 };
const MEGABYTE = 1 << 20;

const head = (length: number, target = "/predict"): string =>
  `POST ${target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

/** A whole request, not longer than a server takes. */
function request(body: string, target?: string): Buffer {
  const bytes = Buffer.from(body);
  if (bytes.length > MEGABYTE) throw new Error(`found ${bytes.length} bytes, expected at most ${MEGABYTE}`);
  return Buffer.concat([Buffer.from(head(bytes.length, target)), bytes]);
}

const words = (length: number): string =>
  Array.from({ length: length / 8 }, (_, i) => (i * 7919).toString(36))
    .join(" ")
    .slice(0, length);
const entries = (count: number, entry: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => entry(i)).join();
const han = String.fromCodePoint(...Array.from({ length: 1000 }, (_, i) => 0x4e00 + ((i * 7919) % 20_000)));

/** The most work for the bytes, in several ways. */
const maximal: readonly Buffer[] = [
  request(JSON.stringify({ text: words(MEGABYTE - 100) })),
  request(JSON.stringify({ texts: new Array(1000).fill(words(1000)) })),
  request(JSON.stringify({ texts: new Array(1000).fill("a"), topK: 50 })),
  request(JSON.stringify({ text: han.repeat(340) })),
  request(`{"features":{${entries(70_000, (i) => `"f${i.toString(36)}":1`)}}}`),
  request(`[${entries(340_000, () => "{}")}]`),
  request("[".repeat(MEGABYTE)),
  request(JSON.stringify({ text: "a", threshold: 0 })),
];
/** Answers of some megabytes. */
const wide = request(JSON.stringify({ texts: new Array(1000).fill("a b c"), topK: 50 }));

const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const closed = (socket: Socket): Promise<void> =>
  new Promise((done) => (socket.destroyed ? done() : socket.once("close", () => done())));

/** Opens connections until the time is over, and does the same with each. */
async function client(deed: (socket: Socket) => Promise<void>): Promise<void> {
  while (performance.now() < end) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const over = setTimeout(() => socket.destroy(), end - performance.now());
    await deed(socket);
    clearTimeout(over);
    socket.destroy();
    await sleep(10);
  }
}

const slowly =
  (text: string, milliseconds: number) =>
  async (socket: Socket): Promise<void> => {
    socket.resume();
    for (let i = 0; i < text.length && !socket.destroyed; i++) {
      socket.write(text.slice(i, i + 1));
      await sleep(milliseconds);
    }
  };

async function unread(socket: Socket): Promise<void> {
  socket.pause();
  socket.write(wide);
  await closed(socket);
}

/** One maximal request after the other, each when the one before was answered. */
async function batches(socket: Socket): Promise<void> {
  let received = 0;
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  for (let i = Math.floor(Math.random() * 100); !socket.destroyed && performance.now() < end; i++) {
    const before = received;
    socket.write(maximal[i % maximal.length]);
    while (received === before && !socket.destroyed) await sleep(5);
  }
}

const many = (count: number, deed: (socket: Socket) => Promise<void>): Promise<void>[] =>
  Array.from({ length: count }, () => client(deed));
await Promise.all([
  ...many(CLIENTS.slowHeads, slowly(head(10), 200)),
  ...many(CLIENTS.slowBodies, slowly(`${head(MEGABYTE)}{"text": "${"a".repeat(10_000)}`, 20)),
  ...many(CLIENTS.unread, unread),
  ...many(CLIENTS.maximal, batches),
]);
process.exit(0);
