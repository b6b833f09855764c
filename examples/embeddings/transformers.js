// The same with transformers.js (`npm install @huggingface/transformers`), for people with a model at hand: one of its names, which is
// downloaded once, or a folder.

import { pipeline } from "@huggingface/transformers";

const encoder = await pipeline("feature-extraction", process.env.MODEL ?? "Xenova/all-MiniLM-L6-v2");

export async function embed(texts) {
  const found = await encoder([...texts], { pooling: "mean", normalize: true });
  return found.tolist().map((vector) => Float32Array.from(vector));
}
