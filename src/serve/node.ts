// The server on node:http, in Node, Deno and Bun: Request and Response objects cost more than a prediction of a small model.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { brokenOff, busy, type OpenReply, tooSlow } from "./http.ts";
import type { Service } from "./service.ts";

/** Under way when the time to stop was over: requests whose answer was not taken, connections without a whole head. */
export type Dropped = Record<"requests" | "connections", number>;

export interface Running {
  readonly url: string;
  /** Stops accepting and lets what is under way finish, within the time that a client has; says what it dropped. */
  stop(): Promise<Dropped>;
}

/** A connection that is idle for so long is closed; clients and proxies mostly give up sooner. */
const IDLE_MILLISECONDS = 65_000;
/** How long what a client goes on sending is read and thrown away, so that it gets to read its answers. */
const LINGER_MILLISECONDS = 1000;
/** How long a connection that was opened just before the end has to send its first byte. */
const SILENT_MILLISECONDS = 250;
/** Connections at once: each takes some 10 kB. */
const MOST_CONNECTIONS = 4096;
/** Requests that one connection may have under way: a client that does not wait for answers cannot fill all places. */
const MOST_OF_ONE = 16;

export async function listen(service: Service, { host, port }: { host: string; port: number }): Promise<Running> {
  const milliseconds = service.limits.seconds * 1000;
  const connections = new Connections();
  const server = createServer(
    {
      keepAliveTimeout: IDLE_MILLISECONDS,
      // The head of a request; the body has a timer of its own that answers in a sentence.
      headersTimeout: milliseconds,
      requestTimeout: 2 * milliseconds,
      connectionsCheckingInterval: Math.min(1000, milliseconds / 2),
    },
    (request, response) => void respond(service, connections, request, response),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.on("connection", (socket: Socket) => connections.add(socket));
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(port, host, () => done());
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    stop: () => connections.stop(server, milliseconds),
  };
}

/** Called when a response has left, or never will. */
type Over = (sent: boolean) => void;

class Connections {
  readonly #underWay = new Map<Socket, Set<Over>>();
  /** Those that end after an answer that was already given. */
  readonly #ending = new WeakSet<Socket>();
  /** Counted since the server began to stop. */
  #dropped: Dropped | undefined;

  get stopping(): boolean {
    return this.#dropped !== undefined;
  }

  add(socket: Socket): Set<Over> {
    const underWay = new Set<Over>();
    endGently(socket);
    this.#underWay.set(socket, underWay);
    socket.once("close", () => {
      this.#underWay.delete(socket);
      // A response behind one that closed the connection never hears of it.
      for (const over of underWay) over(false);
    });
    return underWay;
  }

  /** Counts a request until its response is over; returns how many its connection has with it. */
  begin({ socket }: IncomingMessage, response: ServerResponse, over: Over): number {
    const underWay = this.#underWay.get(socket) ?? this.add(socket);
    underWay.add(over);
    response.once("close", () => {
      underWay.delete(over);
      over(response.writableFinished);
    });
    return underWay.size;
  }

  /** True where requests on this connection are over, though more of them come. */
  isOver(socket: Socket): boolean {
    return socket.destroyed || this.#ending.has(socket);
  }

  /** The connection ends after the answer at hand. */
  last(socket: Socket): void {
    this.#ending.add(socket);
  }

  drop(socket: Socket): void {
    const requests = this.#underWay.get(socket)?.size;
    this.#underWay.delete(socket);
    socket.destroy();
    if (!this.#dropped || requests === undefined) return;
    this.#dropped.requests += requests;
    if (requests === 0) this.#dropped.connections++;
  }

  async stop(server: Server, milliseconds: number): Promise<Dropped> {
    const dropped: Dropped = { requests: 0, connections: 0 };
    this.#dropped = dropped;
    const closed = new Promise<boolean>((done) => server.close(() => done(true)));
    server.closeIdleConnections();
    // One that has said nothing, and goes on saying nothing, loses nothing; half a head may still become a request.
    const silent = setTimeout(
      () => {
        for (const [socket, { size }] of this.#underWay) if (size === 0 && !(socket.bytesRead > 0)) socket.destroy();
      },
      Math.min(SILENT_MILLISECONDS, milliseconds),
    );
    const inTime = await Promise.race([closed, wait(milliseconds, false, { ref: false })]);
    clearTimeout(silent);
    for (const socket of inTime ? [] : this.#underWay.keys()) this.drop(socket);
    if (!inTime) server.closeAllConnections();
    return { ...dropped };
  }
}

/**
 * Node closes a connection after its last answer though the client may still be sending; the system then throws away with what
 * came in also what has not gone out, answers to earlier requests too. So it is half closed first.
 */
function endGently(socket: Socket): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  socket.destroySoon = () => {
    socket.end();
    timer ??= setTimeout(() => socket.destroy(), LINGER_MILLISECONDS);
  };
  socket.once("close", () => clearTimeout(timer));
}

async function respond(
  service: Service,
  connections: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Node parses on after an answer that ends the connection; to answer what follows fails an assertion of its own
  // (ERR_INTERNAL_ASSERTION in resOnFinish, Node 20) and would end the server.
  if (connections.isOver(request.socket)) {
    request.resume();
    return;
  }
  let gone = false;
  let answer: OpenReply | undefined;
  const own = connections.begin(request, response, (sent) => {
    gone = true;
    answer?.over(sent);
  });
  const { seconds } = service.limits;
  answer =
    own > MOST_OF_ONE
      ? service.refuse(busy(`${MOST_OF_ONE} requests of this connection are under way`))
      : await service.answer({
          method: request.method ?? "GET",
          target: request.url ?? "/",
          header: (name) => request.headers[name] as string | undefined,
          body: (take) => readBody(request, seconds, take),
          gone: () => gone,
        });
  if (gone) answer.over(false);
  else send(request, response, answer, connections, seconds);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: OpenReply,
  connections: Connections,
  seconds: number,
): void {
  const timer = setTimeout(() => connections.drop(request.socket), seconds * 1000);
  response.once("close", () => clearTimeout(timer));
  const unread = !request.complete;
  const last = unread || connections.stopping;
  if (last) connections.last(request.socket);
  response.writeHead(status, {
    ...headers,
    ...(status === 204 ? {} : { "content-length": lengthOf(body) }),
    ...(last ? { connection: "close" } : {}),
  });
  if (unread) linger(request, response, request.method === "HEAD" ? [] : body);
  else if (request.method === "HEAD") response.end();
  // A string goes out with the head in one piece; bytes would be a second one.
  else if (typeof body === "string") response.end(body);
  else Readable.from(body, { objectMode: false }).pipe(response);
}

function lengthOf(body: OpenReply["body"]): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.reduce((sum, piece) => sum + piece.length, 0);
}

/** Answers a request whose body is still coming, and closes the connection a little later. */
function linger(request: IncomingMessage, response: ServerResponse, body: OpenReply["body"]): void {
  response.flushHeaders();
  for (const piece of typeof body === "string" ? [body] : body) response.write(piece);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(() => {
    end();
    request.destroy();
  }, LINGER_MILLISECONDS);
  request.once("end", end).once("close", end).resume();
}

function readBody(request: IncomingMessage, seconds: number, take: (bytes: number) => void): Promise<Uint8Array> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => settle(() => failed(tooSlow(seconds))), seconds * 1000);
    const settle = (outcome: () => void): void => {
      clearTimeout(timer);
      request.removeListener("data", add).removeListener("end", finish).removeListener("close", broken);
      outcome();
    };
    const add = (chunk: Buffer): void => {
      try {
        take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        settle(() => failed(error));
      }
    };
    const finish = (): void => settle(() => done(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    const broken = (): void => settle(() => failed(brokenOff()));
    request
      .on("data", add)
      .on("end", finish)
      .on("close", broken)
      .on("error", () => {});
  });
}
