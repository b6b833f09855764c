// A tagger behind node:http. Make a model with `mlgpf compact`, then:
//   npm install mlgpf && node server.js tagger.bin 8080
//   curl localhost:8080 -d "a large wild cat"

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { load } from "mlgpf/edge";

const [file = "tagger.bin", port = "8080"] = process.argv.slice(2);
const wasm = await WebAssembly.compile(await readFile(new URL(import.meta.resolve("mlgpf/edge.wasm"))));
const tagger = await load(await readFile(file), { wasm });

createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405, { allow: "POST" }).end("POST a text");
  const labels = tagger.predict(await text(request));
  response.setHeader("content-type", "application/json").end(JSON.stringify(labels));
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
