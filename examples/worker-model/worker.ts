// A tagger in a Worker whose model is not part of it: swap the model without deploying anything. See wrangler.toml.
//   curl https://tagger.example.workers.dev -d "a large wild cat"

import wasm from "mlgpf/edge.wasm";
import { type Env, tagger } from "./model.ts";

export default {
  async fetch(request: Request, env: Env, ctx: { waitUntil(work: Promise<unknown>): void }): Promise<Response> {
    if (request.method !== "POST") return new Response("POST a text", { status: 405, headers: { allow: "POST" } });
    const text = await request.text();
    const ready = await tagger(env, (work) => ctx.waitUntil(work), wasm);
    return Response.json(ready.predict(text));
  },
};
