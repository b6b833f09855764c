// What somebody might do with the package: train on texts, predict, make a compact model, tag with it, multiply.

import { compactModel, loadModel, readDataset, train } from "mlgpf";
import { createCore, gemm, matrix, matrixFrom } from "mlgpf/core";
import { load } from "mlgpf/edge";
import { createHandler } from "mlgpf/serve";

const TOPICS = [
  ["animal", "cat", "purrs", "fur"],
  ["vehicle", "car", "wheels", "motor"],
  ["plant", "tree", "leaves", "roots"],
];
const lines = Array.from({ length: 60 }, (_, i) => {
  const [label, ...words] = TOPICS[i % TOPICS.length];
  return JSON.stringify({ text: words.filter((_, j) => j !== i % 4).join(" "), labels: [label] });
});

async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function answer(wasm) {
  const { dataset } = await readDataset(new Blob([lines.join("\n")]), { file: "texts.jsonl" });
  const sizes = { factors: 3, inducingPoints: 4, rank: 4, batch: 20, epochs: 20 };
  const trained = await train(dataset, { device: "wasm", threads: 1, ...sizes });

  const model = await loadModel(trained, { threads: 1 });
  const predicted = await model.predict(["a cat that purrs", "wheels"], { topK: 1 });
  const saved = await digest(model.save());
  model.dispose();

  const tagger = await load(await compactModel(trained), { wasm });
  const tagged = tagger.predict("roots and leaves", { topK: 1 });

  const response = await createHandler(tagger)(
    new Request("http://localhost/predict", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "roots and leaves", topK: 1 }),
    }),
  );
  const served = (await response.json()).labels[0].label;

  const core = await createCore({ threads: 1 });
  const [row, column] = [matrixFrom(core, 1, 2, [3, 4]), matrixFrom(core, 2, 1, [5, 6])];
  const product = Array.from(gemm(row, column, matrix(core, 1, 1)).toArray());
  core.dispose();

  const { path } = tagger.info;
  return { saved, predicted: predicted.map(([best]) => best.label), tagged, served, path, product };
}
