// A tagger that answers its page's POST /predict without a server, online or not. Put a model made by `mlgpf compact`
// beside this file as tagger.bin, then bundle, and serve the folder:
//   npx esbuild sw.js --bundle --outfile=out.js && cp node_modules/mlgpf/dist/edge.wasm . && npx serve .

import { load } from "mlgpf/edge";

const FILES = ["./", "./tagger.bin", "./edge.wasm"];
const cache = () => caches.open("tagger-1");

let tagger;
const ready = () => {
  tagger ??= start();
  return tagger;
};

async function start() {
  const files = await cache();
  const wasm = await WebAssembly.compileStreaming(files.match("./edge.wasm"));
  return await load(() => files.match("./tagger.bin"), { wasm });
}

async function answer(request) {
  const { pathname } = new URL(request.url);
  if (request.method === "POST" && pathname.endsWith("/predict"))
    return Response.json((await ready()).predict(await request.text()));
  return (await (await cache()).match(request)) ?? fetch(request);
}

addEventListener("install", (event) => event.waitUntil(cache().then((files) => files.addAll(FILES))));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
