// mlgpf calibrate MODEL FILE [--out MODEL]

import type { Dataset } from "../data/dataset.ts";
import { checkWritable } from "../io/files.ts";
import { modelToBytes } from "../model/file.ts";
import type { TrainedModel } from "../model/model.ts";
import { evaluate } from "../predict/evaluate.ts";
import { recalibrate } from "../train/recalibrate.ts";
import type { Command } from "./command.ts";
import { dataFlags, readData } from "./data.ts";
import { expectationLines } from "./figures.ts";
import { type Flags, given, type Parsed, quietFlag, threadsFlag, UsageError } from "./flags.ts";
import { openModel, withPredictor } from "./models.ts";
import { writeSomewhere } from "./outputs.ts";
import { type Terminal, terminal } from "./terminal.ts";

const flags: Flags = {
  out: { kind: "text", value: "MODEL", help: "where the model goes", default: "MODEL itself" },
  threads: threadsFlag,
  quiet: quietFlag,
  ...dataFlags,
};

async function calibrate(parsed: Parsed): Promise<void> {
  const [path, file, ...more] = parsed.positional;
  if (path === undefined || file === undefined || more.length > 0)
    throw new UsageError("mlgpf calibrate takes a model and a data file");
  const out = parsed.text("out") ?? path;
  await checkWritable(out);
  const threads = parsed.number("threads");
  const screen = terminal(parsed.on("quiet"));
  const model = await openModel(path, file);
  const { dataset } = await readData(file, parsed, screen, model);
  await say("as it was", model, dataset, threads, screen);
  const calibrated = await recalibrate(model, dataset, {
    ...given({ threads }),
    onProgress: ({ stage, fraction }) => screen.show([stage], fraction),
  });
  screen.done();
  await say("calibrated, on the same points", calibrated, dataset, threads, screen);
  const written = await writeSomewhere(out, modelToBytes(calibrated));
  if (written.problem) throw new Error(`${written.problem.message}; the model is in ${written.path}`);
  screen.say(`${out} written`);
}

/** What a model expects of its first labels, what came, and its log loss. */
async function say(
  title: string,
  model: TrainedModel,
  data: Dataset,
  threads: number | undefined,
  screen: Terminal,
): Promise<void> {
  const { expectation, calibration } = await withPredictor(model, threads, (predictor) =>
    evaluate(predictor, data, {
      calibration: true,
      onProgress: (fraction) => screen.show("measuring", fraction),
    }),
  );
  screen.done();
  screen.say(`${title}: log loss ${calibration?.logLoss.toFixed(4)} a point`);
  for (const line of expectationLines(expectation)) screen.say(line);
}

export const calibrateCommand: Command = {
  name: "calibrate",
  usage: "mlgpf calibrate MODEL FILE [--out MODEL]",
  summary: "fit the probabilities and thresholds of a model to new data with known labels",
  examples: [
    "mlgpf calibrate tagger.safetensors new.jsonl",
    "mlgpf calibrate tagger.safetensors new.jsonl --out newer.safetensors",
  ],
  flags,
  run: calibrate,
};
