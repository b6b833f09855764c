// The program in a host with files: Node, Deno, Bun. Prints its answer.

import { readFile } from "node:fs/promises";
import { answer } from "./program.js";

const module = await WebAssembly.compile(await readFile(new URL(import.meta.resolve("mlgpf/edge.wasm"))));
console.log(JSON.stringify(await answer(module)));
