// npm start: trains on WordNet's noun definitions, measures, shows a few predictions, and says what to try next.

import { mkdirSync, writeFileSync } from "node:fs";
import { loadModel, readDataset, report, saveModel, train } from "../../src/index.ts";
import { readWordNet } from "./wordnet.ts";

const OUT = "results/wordnet";
const EXAMPLES = 6;

const begin = performance.now();
const seconds = (): string => `${((performance.now() - begin) / 1000).toFixed(0)} s`;
const wordNet = readWordNet();
const { dataset } = await readDataset(wordNet.train);
console.log(
  `${wordNet.train.length} training and ${wordNet.test.length} test definitions, ${dataset.labels.labels} labels`,
);

const model = await train(dataset, {
  onProgress: (progress) => {
    if (progress.stage === "note") console.log(progress.text);
  },
});
console.log(`Trained after ${seconds()}`);
mkdirSync(OUT, { recursive: true });
await saveModel(model, `${OUT}/model.safetensors`);

const tagger = await loadModel(model);
const { ranking, calibration } = await tagger.evaluate(wordNet.test, { calibration: true });
const shown = (name: string): string => `${name} ${ranking.metrics[name].toFixed(2)}`;
console.log(`\nOn the test definitions: ${["P@1", "P@3", "P@5", "nDCG@5"].map(shown).join(", ")}`);
console.log(
  `Log loss ${calibration?.logLoss.toFixed(2)}, ECE@5 ${(100 * (calibration?.top5.ece ?? 0)).toFixed(2)} percentage points`,
);
writeFileSync(`${OUT}/metrics.json`, JSON.stringify({ ranking, calibration }));

const step = Math.floor(wordNet.test.length / EXAMPLES);
for (let i = 0; i < EXAMPLES; i++) {
  const { word, text, labels } = wordNet.test[i * step + 7];
  console.log(`\n  ${word}: ${text}`);
  for (const { label, probability } of await tagger.predict(text, { topK: 5, sd: false }))
    console.log(`    ${labels.includes(label) ? "✓" : " "} ${probability.toFixed(3)}  ${label}`);
}
tagger.dispose();
writeFileSync(`${OUT}/report.html`, await report(model, wordNet.test, { title: "WordNet nouns" }));

console.log(`
  ${seconds()} in all. Open ${OUT}/report.html in a browser to look at the model. Try:

    echo "a large wild cat that lives in the mountains" | npx mlgpf predict ${OUT}/model.safetensors
    npx mlgpf inspect ${OUT}/model.safetensors
    npx mlgpf compact ${OUT}/model.safetensors --out ${OUT}/tagger.bin && npx mlgpf serve ${OUT}/tagger.bin
`);
