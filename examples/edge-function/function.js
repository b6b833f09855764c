// A tagger in an edge function, without WASM. Put a model made by `mlgpf compact` beside this file as tagger.bin, then:
//   npx esbuild function.js --bundle --target=es2022 --loader:.bin=binary --outfile=out.js
//   npx edge-runtime out.js --listen
//   curl localhost:3000 -d "a large wild cat"

import { load } from "mlgpf/edge";
import model from "./tagger.bin";

const tagger = load(model);

async function answer(request) {
  if (request.method !== "POST") return new Response("POST a text", { status: 405, headers: { allow: "POST" } });
  return Response.json((await tagger).predict(await request.text()));
}

addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
