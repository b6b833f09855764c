// npm start: trains on WordNet's noun definitions, measures, shows a few predictions, and says what to try next.

import { mkdirSync } from "node:fs";
import { calibrationLines, evaluationAsJson, expectationLines, rankingLines } from "../../src/cli/figures.ts";
import { withPredictor } from "../../src/cli/models.ts";
import { showProgress } from "../../src/cli/progress.ts";
import { machine, writeReport } from "../../src/cli/report.ts";
import { duration, terminal } from "../../src/cli/terminal.ts";
import { selectFeatures, selectRows } from "../../src/data/index.ts";
import { writeAtomically } from "../../src/io/files.ts";
import { everyFigure, topLabels } from "../../src/metrics/index.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { evaluate } from "../../src/predict/evaluate.ts";
import { recordHistory } from "../../src/report/history.ts";
import { train } from "../../src/train/train.ts";
import { readWordNet } from "./wordnet.ts";

const OUT = "results/wordnet";
const EXAMPLES = 6;
/** Test definitions looked at while training, to see it learn. */
const WATCHED = 1000;

const begin = performance.now();
const screen = terminal(false);
screen.say("reading WordNet's nouns");
const data = readWordNet();
const { features, labels } = data.train;
screen.say(
  `${features.rows} training and ${data.test.features.rows} test definitions, ${features.columns} words, ${labels.labels} labels, ` +
    `${(labels.labelIndex.length / labels.rows).toFixed(1)} a definition`,
);

const begun = performance.now();
const watched = recordHistory(() => (performance.now() - begun) / 1000);
const show = showProgress(screen);
const every = Math.floor(data.test.features.rows / WATCHED);
const model = await train(data.train, {
  validation: selectRows(
    data.test,
    Array.from({ length: WATCHED }, (_, i) => i * every),
  ),
  onProgress: (progress) => {
    watched.record(progress);
    show(progress);
  },
});
screen.done();
const trained = performance.now();

await withPredictor(model, undefined, async (predictor) => {
  screen.show("measuring on the test definitions");
  const measured = await evaluate(predictor, data.test, everyFigure);
  screen.done();
  mkdirSync(OUT, { recursive: true });
  const bytes = modelToBytes(model);
  await writeAtomically(`${OUT}/model.safetensors`, bytes);
  const history = watched.history();
  const textOf = (row: number): { title: string; text: string } => {
    const { word, definition } = data.testTexts[row] as { word: string; definition: string };
    return { title: word, text: definition };
  };
  const job = {
    model,
    bytes: bytes.length,
    title: "WordNet nouns",
    run: { seconds: history.seconds, machine: machine(), notes: watched.notes },
    history,
    validation: { data: data.test, file: "WordNet nouns held out", textOf, evaluation: measured },
  };
  await writeReport(`${OUT}/report.html`, job, predictor, screen);
  const figures = { ...evaluationAsJson(measured), summary: model.summary };
  await writeAtomically(
    `${OUT}/metrics.json`,
    new TextEncoder().encode(`${JSON.stringify(figures, null, 2)}\n`),
  );

  const { ranking, expectation, calibration } = measured;
  const table = [
    rankingLines(ranking),
    expectationLines(expectation),
    calibration ? calibrationLines(calibration) : [],
  ];
  for (const lines of table) console.log(`\n${lines.join("\n")}`);

  const step = Math.floor(data.testTexts.length / EXAMPLES);
  const rows = Array.from({ length: EXAMPLES }, (_, i) => i * step + 7);
  for await (const scores of predictor.score(selectFeatures(data.test.features, rows), {
    probability: true,
  })) {
    const { probability = [] } = scores;
    const ranked = topLabels(probability, scores.rows, model.labels, 5);
    rows.forEach((row, i) => {
      const { word, definition } = data.testTexts[row] as { word: string; definition: string };
      const truth = new Set(
        data.test.labels.labelIndex.subarray(
          data.test.labels.rowStart[row],
          data.test.labels.rowStart[row + 1],
        ),
      );
      console.log(`\n  ${word}: ${definition}`);
      for (const label of ranked.subarray(5 * i, 5 * i + 5)) {
        const said = probability[i * model.labels + label] as number;
        console.log(`    ${truth.has(label) ? "✓" : " "} ${said.toFixed(3)}  ${model.labelNames?.[label]}`);
      }
      const missed = [...truth].filter((label) => !ranked.subarray(5 * i, 5 * i + 5).includes(label));
      if (missed.length > 0)
        console.log(`      also true: ${missed.map((label) => model.labelNames?.[label]).join(", ")}`);
    });
  }
});

const total = (performance.now() - begin) / 1000;
console.log(
  `\n  ${duration(total)} in all, ${duration((trained - begin) / 1000)} of it reading and training`,
);
console.log(`
  Open ${OUT}/report.html in a browser to look at the model: its figures, its labels, its training.
  The model is ${OUT}/model.safetensors, its figures are in ${OUT}/metrics.json. Try:

    echo '{"text": "a large wild cat that lives in the mountains"}' | npx mlgpf predict ${OUT}/model.safetensors --format jsonl
    npx mlgpf inspect ${OUT}/model.safetensors
    npx mlgpf compact ${OUT}/model.safetensors --out ${OUT}/tagger.bin && npx mlgpf serve ${OUT}/tagger.bin
`);
