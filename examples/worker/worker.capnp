# The worker under workerd: static imports of the code, the WASM and the model.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [ (name = "tagger", worker = .tagger) ],
  sockets = [ (name = "http", address = "127.0.0.1:8080", http = (), service = "tagger") ],
);

const tagger :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "mlgpf/edge.wasm", wasm = embed "edge.wasm"),
    (name = "./tagger.bin", data = embed "tagger.bin"),
  ],
  compatibilityDate = "2026-01-01",
);
