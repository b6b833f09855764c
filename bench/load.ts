// A load generator over keep-alive connections. Raw sockets: an HTTP client would take more of the machine than the
// server does.

import { connect, type Socket } from "node:net";

export interface Load {
  connections: number;
  seconds: number;
  /** Requests a second, started on time whatever became of those before; without it each connection asks again at once. */
  rate?: number;
  /** How a text is asked about; by POST /predict if not given. */
  request?: (text: string) => Buffer;
}

export interface LoadFigures {
  asked: number;
  answered: number;
  /** Answers that were not 200, and requests without an answer. */
  refused: number;
  lost: number;
  perSecond: number;
  p50: number;
  p99: number;
  worst: number;
}

const GRACE_MILLISECONDS = 5000;

/** One connection with at most one request under way; a server may close an idle one, and then it is opened again. */
class Connection {
  readonly #port: number;
  #socket: Socket;
  #received = "";
  #done: ((status: number) => void) | undefined;

  private constructor(port: number, socket: Socket) {
    this.#port = port;
    this.#socket = this.#watched(socket);
  }

  static open(port: number): Promise<Connection> {
    return new Promise((done, failed) => {
      const socket = connect(port, "127.0.0.1", () => done(new Connection(port, socket)));
      socket.once("error", failed);
    });
  }

  #watched(socket: Socket): Socket {
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (text: string) => this.#take(text));
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      if (socket === this.#socket) this.#finish(0);
    });
    return socket;
  }

  get idle(): boolean {
    return this.#done === undefined;
  }

  /** The status of the answer; 0 where the connection closed without one. */
  ask(request: Buffer): Promise<number> {
    return new Promise((done) => {
      if (this.#socket.destroyed) {
        this.#received = "";
        this.#socket = this.#watched(connect(this.#port, "127.0.0.1"));
      }
      this.#done = done;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const head = this.#received.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = Number(/content-length: *(\d+)/i.exec(this.#received.slice(0, head))?.[1] ?? 0);
    if (this.#received.length < head + 4 + length) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = "";
    this.#finish(status);
  }

  #finish(status: number): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(status);
  }
}

/** The bytes of a POST. */
export function httpRequest(path: string, type: string, content: string): Buffer {
  const body = Buffer.from(content);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

const prediction = (text: string): Buffer => httpRequest("/predict", "application/json", JSON.stringify({ text }));

export async function runLoad(port: number, texts: readonly string[], load: Load): Promise<LoadFigures> {
  const requests = texts.map(load.request ?? prediction);
  const connections = await Promise.all(Array.from({ length: load.connections }, () => Connection.open(port)));
  const times: number[] = [];
  let [asked, refused] = [0, 0];
  const begin = performance.now();
  const end = begin + load.seconds * 1000;
  const ask = async (connection: Connection, planned: number): Promise<void> => {
    const status = await connection.ask(requests[asked++ % requests.length]);
    if (status === 0) return;
    times.push(performance.now() - planned);
    if (status !== 200) refused++;
  };
  const work =
    load.rate === undefined
      ? Promise.all(
          connections.map(async (connection) => {
            for (let now = begin; now < end; now = performance.now()) await ask(connection, now);
          }),
        )
      : onTime(connections, ask, begin, end, load.rate);
  await Promise.race([work, new Promise((done) => setTimeout(done, load.seconds * 1000 + GRACE_MILLISECONDS))]);
  const seconds = (performance.now() - begin) / 1000;
  for (const connection of connections) connection.close();
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return {
    asked,
    answered: times.length,
    refused,
    lost: asked - times.length,
    perSecond: times.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    worst: at(1),
  };
}

/**
 * Starts requests at their times; one that finds no idle connection waits for the next, and its clock runs. What could
 * not be started by the end is not asked: the requests a second show it.
 */
async function onTime(
  connections: readonly Connection[],
  ask: (connection: Connection, planned: number) => Promise<void>,
  begin: number,
  end: number,
  rate: number,
): Promise<void> {
  const total = Math.floor(((end - begin) / 1000) * rate);
  const under = new Set<Promise<void>>();
  for (let next = 0; next < total && performance.now() < end; ) {
    const due = Math.min(total, Math.ceil(((performance.now() - begin) / 1000) * rate));
    for (const connection of connections) {
      if (next >= due) break;
      if (!connection.idle) continue;
      const one = ask(connection, begin + (next++ / rate) * 1000).finally(() => under.delete(one));
      under.add(one);
    }
    // To look more often would take the processor from the server.
    await new Promise((done) => setTimeout(done, 1));
  }
  await Promise.all(under);
}
