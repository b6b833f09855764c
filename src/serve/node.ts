// The server on node:http, in Node, Deno and Bun. It goes without Request and Response objects, which cost more
// than a prediction of a small model.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Limits } from "./limits.ts";
import { brokenOff, tooLong, tooSlow } from "./refusal.ts";
import type { Service } from "./service.ts";

export interface Running {
  readonly url: string;
  /** Stops accepting, lets what is under way finish, and is done when the last connection is closed. */
  stop(): Promise<void>;
}

/** A connection that is idle for so long is closed; clients and proxies mostly give up sooner. */
const IDLE_MILLISECONDS = 65_000;
/** How long the rest of a refused body is read and thrown away, so that the client gets to read its answer. */
const LINGER_MILLISECONDS = 1000;

export async function listen(
  service: Service,
  { host, port }: { host: string; port: number },
): Promise<Running> {
  const milliseconds = service.limits.seconds * 1000;
  let stopping = false;
  const server = createServer(
    {
      keepAliveTimeout: IDLE_MILLISECONDS,
      // The head of a request; the body has a timer of its own that answers in a sentence.
      headersTimeout: milliseconds,
      requestTimeout: 2 * milliseconds,
      connectionsCheckingInterval: Math.min(1000, milliseconds / 2),
    },
    (request, response) => {
      void respond(service, request, response, () => stopping);
    },
  );
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(port, host, () => done());
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    stop: () => {
      stopping = true;
      return new Promise((done) => server.close(() => done()));
    },
  };
}

async function respond(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: () => boolean,
): Promise<void> {
  const { status, headers, body } = await service.answer({
    method: request.method ?? "GET",
    target: request.url ?? "/",
    header: (name) => request.headers[name] as string | undefined,
    body: () => readBody(request, service.limits),
  });
  const unread = !request.complete;
  response.writeHead(status, {
    ...headers,
    "content-length": Buffer.byteLength(body),
    ...(unread || stopping() ? { connection: "close" } : {}),
  });
  // A string goes out with the head in one piece; bytes would be a second one.
  if (!unread) response.end(request.method === "HEAD" ? undefined : body);
  else linger(request, response, body);
}

/** Answers a request whose body is still coming, and closes the connection a little later. */
function linger(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.write(body);
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

/** All of a body within the limits of length and time. */
function readBody(request: IncomingMessage, { bodyBytes, seconds }: Limits): Promise<Uint8Array> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const timer = setTimeout(() => settle(() => failed(tooSlow(seconds))), seconds * 1000);
    const settle = (outcome: () => void): void => {
      clearTimeout(timer);
      request.removeListener("data", take).removeListener("end", finish).removeListener("close", broken);
      outcome();
    };
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bodyBytes) settle(() => failed(tooLong(bodyBytes)));
      else chunks.push(chunk);
    };
    const finish = (): void =>
      settle(() => done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const broken = (): void => settle(() => failed(brokenOff()));
    request
      .on("data", take)
      .on("end", finish)
      .on("close", broken)
      .on("error", () => {});
  });
}
