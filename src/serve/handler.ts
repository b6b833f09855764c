// The server as a function from Request to Response: for Deno.serve, Bun.serve and workers.

import type { LabelLists } from "../base/prediction.ts";
import { readAll } from "../base/safetensors.ts";
import type { HostOptions } from "./hosts.ts";
import { brokenOff, HttpError, type OpenReply, tooSlow } from "./http.ts";
import type { Limits } from "./limits.ts";
import { type Project, projectOf, type Tagger } from "./project.ts";
import { Service } from "./service.ts";

/** Limits, names and origins that may ask, lists of labels. */
export interface HandlerOptions extends Partial<Limits>, HostOptions, LabelLists {}

/** A handler of POST /predict, GET /health, /metrics and /, and Annif's /v1, for a tagger or for several projects. */
export function createHandler(
  tagger: Tagger | readonly Project[],
  options: HandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { hosts, origins, allow, deny, ...limits } = options;
  const projects = "predictMany" in tagger ? [projectOf(tagger)] : tagger;
  const service = new Service(projects, { limits, hosts, origins, allow, deny });
  const { seconds } = service.limits;
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const answer = await service.answer({
      method: request.method,
      target: `${pathname}${search}`,
      header: (name) => request.headers.get(name),
      body: (take) => readBody(request, seconds, take),
      // The signal of a request cannot tell: in Deno it is aborted by every answer.
      gone: () => false,
    });
    const { status, headers, body } = answer;
    const empty = request.method === "HEAD" || status === 204;
    if (!empty && typeof body !== "string")
      return new Response(streamOf(body, answer.over, seconds), { status, headers });
    // A reply that nobody can see being sent counts as sent.
    answer.over(true);
    return new Response(empty ? null : (body as string), { status, headers });
  };
}

/** Pieces as a stream that hands them out as the client takes them, and not for ever. */
function streamOf(body: readonly Uint8Array[], over: OpenReply["over"], seconds: number): ReadableStream<Uint8Array> {
  let next = 0;
  let timer: ReturnType<typeof setTimeout>;
  const end = (sent: boolean): void => {
    clearTimeout(timer);
    next = body.length;
    over(sent);
  };
  return new ReadableStream(
    {
      start(controller) {
        timer = setTimeout(() => {
          end(false);
          controller.error(new Error(`the answer was not taken within ${seconds} s`));
        }, seconds * 1000);
      },
      pull(controller) {
        const piece = body[next++];
        if (piece) return controller.enqueue(piece);
        controller.close();
        end(true);
      },
      cancel: () => end(false),
    },
    { highWaterMark: 0 },
  );
}

/** All of a body within the time; `take` is told of each piece. */
async function readBody(request: Request, seconds: number, take: (bytes: number) => void): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(seconds)), seconds * 1000);
  });
  try {
    return await Promise.race([readAll(reader, take), late]);
  } catch (error) {
    // Nobody waits for the rest.
    reader.cancel().catch(() => {});
    throw error instanceof HttpError ? error : brokenOff();
  } finally {
    clearTimeout(timer);
  }
}
