// Training in parts: mlgpf plan, mlgpf train --plan --shard, mlgpf merge

import { safetensorsChunks } from "../base/safetensors.ts";
import { readSafetensorsFile, readWhole, writeAtomically } from "../io/files.ts";
import { modelToTensors } from "../model/file.ts";
import { trainOptions } from "../parts/options.ts";
import { type LearningState, stateChunks, stateFromTensors } from "../parts/regression/state.ts";
import { runOptions } from "../parts/run.ts";
import { grouped, sizeText } from "../report/numbers.ts";
import { makePlan, mergeParts, type PartOptions, planFromText, rangeOf, trainPart } from "../train/plan.ts";
import { type Call, type Command, command } from "./command.ts";
import { labelsFrom, type ReadFor, readData, shardOf, textTables } from "./data.ts";
import { on, output, quiet, threads } from "./flags.ts";
import { bytesOf, writeText } from "./models.ts";
import { closingLine, summaryJson, watched } from "./progress.ts";

/** The options that a plan takes; the others are of trainings step by step. */
const planned = { idf: trainOptions.idf };

const NOTHING = "Nothing was written.";

/** mlgpf train FILE --plan PLAN --shard I/N --out PART */
export async function trainPlanned(
  { of, screen }: Pick<Call<unknown>, "of" | "screen">,
  file: string,
  given: { plan: string; out: string; shard?: string; labelsFrom?: string },
): Promise<void> {
  const { plan, out, labelsFrom: labels } = given;
  const shard = shardOf(given.shard);
  const made = planFromText(new TextDecoder().decode(await readWhole(plan)), plan);
  const columnIds = made.columnIds && Int32Array.from(made.columnIds);
  const model = { schema: { ...made, columnIds } } as unknown as ReadFor;
  const featuresOf = rangeOf(shard, made.points);
  const { dataset } = await readData(file, { of, screen }, { model, labels, featuresOf });
  const threads = of(runOptions).threads as PartOptions["threads"];
  const part = await watched(screen, "Training", NOTHING, (work) =>
    trainPart(dataset, made, shard, { threads, ...work }),
  );
  const chunks = stateChunks(part);
  await writeAtomically(out, chunks);
  screen.say(
    `${out} written (${sizeText(bytesOf(chunks))}): part ${shard.index} of ${shard.count}, ${grouped(part.totals?.points ?? 0)} rows`,
  );
}

export const planCommand: Command = command({
  name: "plan",
  positionals: "FILE",
  summary: "plan a training on several machines: the vocabulary, word weights and features of all its parts",
  examples: [
    "mlgpf plan train.txt --out plan.json",
    "mlgpf train train.txt --plan plan.json --shard 1/8 --out part.1",
    "mlgpf merge part.* --out model.safetensors",
  ],
  options: { out: output("PLAN", "output file", { required: true }), labelsFrom, quiet },
  tables: { Model: planned, ...textTables },
  async run({ args: [file], given: { out = "", labelsFrom: labels }, of, screen }) {
    const { dataset } = await readData(file, { of, screen }, { labels });
    const made = makePlan(dataset, of(planned));
    await writeText(out, JSON.stringify(made));
    const sizes = [made.points, made.features, made.labels].map(grouped);
    screen.say(`${out} written: ${sizes[0]} rows, ${sizes[1]} features, ${sizes[2]} labels`);
  },
});

export const mergeCommand: Command = command({
  name: "merge",
  positionals: "PART ...",
  summary: "merge all parts that mlgpf train --plan made into a model: the same bytes for any number of parts",
  examples: ["mlgpf merge part.1 part.2 part.3 --out model.safetensors"],
  options: {
    out: output("MODEL", "output file", { required: true }),
    json: on("print the training summary as JSON"),
    threads,
    quiet,
  },
  async run({ args, given: { out = "", json, threads }, screen }) {
    const begun = performance.now();
    const parts: LearningState[] = [];
    for (const path of args) {
      screen.show(`Reading ${path}`, parts.length / args.length);
      parts.push(stateFromTensors(await readSafetensorsFile(path), path));
    }
    const model = await watched(screen, "Merging", NOTHING, (work) => mergeParts(parts, { threads, ...work }));
    await writeAtomically(out, safetensorsChunks(modelToTensors(model)));
    screen.say(closingLine(model, (performance.now() - begun) / 1000));
    if (json) console.log(summaryJson(model));
    screen.say(`${out} written, merged from ${parts.length} parts`);
  },
});
