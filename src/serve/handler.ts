// The server as a function from Request to Response: for Deno.serve, Bun.serve and workers.

import type { Limits } from "./limits.ts";
import { brokenOff, Refusal, tooLong, tooSlow } from "./refusal.ts";
import { createService } from "./service.ts";
import type { Tagger } from "./tagger.ts";

/** A handler that answers POST /predict, GET /health, GET /metrics and GET / out of a tagger. */
export function createHandler(
  tagger: Tagger,
  limits: Partial<Limits> = {},
): (request: Request) => Promise<Response> {
  const service = createService(tagger, limits);
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = await service.answer({
      method: request.method,
      target: `${pathname}${search}`,
      header: (name) => request.headers.get(name),
      body: () => readBody(request, service.limits),
    });
    return new Response(request.method === "HEAD" ? null : body, { status, headers });
  };
}

/** All of a body within the limits of length and time. */
async function readBody(request: Request, { bodyBytes, seconds }: Limits): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(seconds)), seconds * 1000);
  });
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return joined(chunks, length);
      length += value.length;
      if (length > bodyBytes) throw tooLong(bodyBytes);
      chunks.push(value);
    }
  } catch (error) {
    // Nobody waits for the rest.
    reader.cancel().catch(() => {});
    throw error instanceof Refusal ? error : brokenOff();
  } finally {
    clearTimeout(timer);
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
