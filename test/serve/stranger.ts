// Plays a script against a server and says what is wrong with the answers, if anything.

import { Buffer } from "node:buffer";
import { connect } from "node:net";
import type { Script } from "./grammar.ts";

const STATUSES = new Set([100, 200, 204, 400, 403, 404, 405, 408, 413, 414, 415, 417, 421, 431, 501, 503, 505]);

/** A client that has an answer and sees nothing more for so long goes away: the connection is one that is kept open. */
const QUIET_MILLISECONDS = 100;

/** What a client receives until the server closes the connection or has nothing more to say; undefined without an answer. */
function play(port: number, { pieces, pause, end }: Script, milliseconds: number): Promise<Buffer | undefined> {
  return new Promise((done) => {
    const received: Buffer[] = [];
    let sent = false;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const timer = setTimeout(() => finish(undefined), milliseconds);
    const socket = connect(port, "127.0.0.1");
    const finish = (outcome: Buffer | undefined): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
      socket.destroy();
      done(outcome);
    };
    const listen = (): void => {
      clearTimeout(quiet);
      if (!sent || received.length === 0) return;
      quiet = setTimeout(() => {
        const all = Buffer.concat(received);
        if (faultOf(all) === undefined) finish(all);
      }, QUIET_MILLISECONDS);
    };
    socket.on("data", (chunk: Buffer) => {
      received.push(chunk);
      listen();
    });
    socket.on("error", () => {});
    socket.on("close", () => finish(Buffer.concat(received)));
    socket.setNoDelay(true);
    const send = async (): Promise<void> => {
      for (const piece of pieces) {
        socket.write(piece);
        if (pieces.length > 1) await new Promise((next) => setTimeout(next, pause));
      }
      sent = true;
      listen();
      if (end === "half") socket.end();
      if (end === "gone") finish(Buffer.alloc(0));
    };
    socket.once("connect", () => void send());
  });
}

/** What is wrong with what a server sent: every answer whole, of a known status, its JSON sound and its numbers numbers. */
export function faultOf(received: Buffer): string | undefined {
  for (let at = 0; at < received.length; ) {
    const headEnd = received.indexOf("\r\n\r\n", at);
    if (headEnd < 0) return `half a head: ${received.subarray(at, at + 80).toString("latin1")}`;
    const head = received.subarray(at, headEnd).toString("latin1");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (!STATUSES.has(status)) return `status ${status}: ${head.slice(0, 80)}`;
    // A runtime's own refusal may be an empty body in no pieces.
    const empty = /\r\ntransfer-encoding: chunked/i.test(head) ? "0\r\n\r\n".length : 0;
    const stated = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? empty);
    // The answer to HEAD has a length and no body: the next one follows at once.
    const length = received.subarray(headEnd + 4, headEnd + 13).toString() === "HTTP/1.1 " ? 0 : stated;
    const body = received.subarray(headEnd + 4, headEnd + 4 + length);
    at = headEnd + 4 + length;
    if (body.length < length) return body.length === 0 ? undefined : `${body.length} of ${length} bytes`;
    const wrong =
      length > 0 && /content-type: application\/(\w+\+)?json/i.test(head)
        ? wrongJson(body.toString(), status)
        : undefined;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongJson(text: string, status: number): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `no JSON: ${text.slice(0, 80)}`;
  }
  if (status >= 400) {
    const { error, detail = error } = value as { error?: unknown; detail?: unknown };
    return typeof detail === "string" && !detail.includes("\n") ? undefined : `no sentence: ${text.slice(0, 80)}`;
  }
  const number = /"(?:probability|score|sd)":([^,}\]]*)/g;
  for (const [whole, found] of text.matchAll(number)) {
    const right = found !== "null" && Number(found) >= 0 && (whole.startsWith('"sd"') || Number(found) <= 1);
    if (!right) return whole;
  }
  return undefined;
}

/** Plays a script; what is wrong with the answers, or that none came within the time. */
export async function stranger(port: number, script: Script, milliseconds: number): Promise<string | undefined> {
  const received = await play(port, script, milliseconds);
  return received === undefined ? `no end within ${milliseconds} ms` : faultOf(received);
}
