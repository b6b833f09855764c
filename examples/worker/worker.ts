// A tagger in a Worker. Put a model made by `mlgpf compact` beside this file as tagger.bin, then `npx wrangler dev worker.ts`,
// or with workerd alone: npx esbuild worker.ts --bundle --format=esm --external:*.wasm --external:*.bin --outfile=worker.js
// && cp node_modules/mlgpf/dist/edge.wasm . && npx workerd serve worker.capnp

import { load } from "mlgpf/edge";
import wasm from "mlgpf/edge.wasm";
import model from "./tagger.bin";

const tagger = load(model, { wasm });

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method !== "POST") return new Response("POST a text", { status: 405, headers: { allow: "POST" } });
    return Response.json((await tagger).predict(await request.text()));
  },
};
