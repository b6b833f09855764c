// A tagger behind Deno.serve. Make a model with `mlgpf compact`, then:
//   deno add npm:mlgpf && deno run --allow-net --allow-read server.ts tagger.bin 8080
//   curl localhost:8080 -d "a large wild cat"

import { load } from "mlgpf/edge";
import source wasm from "mlgpf/edge.wasm";

const [file = "tagger.bin", port = "8080"] = Deno.args;
const tagger = await load(await Deno.readFile(file), { wasm });

Deno.serve({ port: Number(port), hostname: "127.0.0.1" }, async (request) => {
  if (request.method !== "POST") return new Response("POST a text", { status: 405, headers: { allow: "POST" } });
  return Response.json(tagger.predict(await request.text()));
});
