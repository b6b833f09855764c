// The program in a page; the bundler says where the module is.

import address from "mlgpf/edge.wasm?url";
import { answer } from "./program.js";

const module = await WebAssembly.compileStreaming(fetch(address));
globalThis.answer = await answer(module);
