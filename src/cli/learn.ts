// mlgpf learn MODEL FILE --state STATE and mlgpf query MODEL FILE: online learning, and which documents to label for it.

import { safetensorsChunks } from "../base/safetensors.ts";
import type { Dataset } from "../data/dataset.ts";
import { aboutNewWords, NewWords } from "../data/newwords.ts";
import { TfidfVectoriser } from "../data/tfidf.ts";
import { checkKeepable, checkWritable, readWhole, targetOf } from "../io/files.ts";
import { withLock } from "../io/lock.ts";
import { finishTogether, recordOf, writeTogether } from "../io/together.ts";
import { learnOnce } from "../learn/learn.ts";
import type { LearnRequest } from "../learn/learner.ts";
import { type QueriedDocument, query } from "../learn/query.ts";
import { modelToTensors } from "../model/file.ts";
import type { Model } from "../model/model.ts";
import { LearningError, MOST_WEIGHT } from "../parts/regression/documents.ts";
import { stateContent, stateFromBytes } from "../parts/regression/state.ts";
import { csvCell, labelsCell } from "../predict/lines.ts";
import { readingFor } from "../predict/reading.ts";
import { grouped, sizeText } from "../report/numbers.ts";
import { type Call, type Command, command } from "./command.ts";
import { dataTables, readChoices, readData } from "./data.ts";
import { rawCsv } from "./eval.ts";
import { count, on, output, quiet, text, threads, UsageError } from "./flags.ts";
import { bytesOf, openModel, writeText } from "./models.ts";
import { watched } from "./progress.ts";
import { print } from "./terminal.ts";

/** The documents of the file, as the model reads them; words that it does not know are counted. */
async function readDocuments(file: string, call: Reading, model: Model): Promise<Dataset> {
  const words = new NewWords();
  const { vectoriser } = readingFor(model.schema);
  if (vectoriser) vectoriser.newWords = words;
  const { dataset } = await readData(file, call, { model, ...(vectoriser && { vectoriser }) });
  const about = aboutNewWords(words.counts());
  if (about !== undefined) call.screen.say(about);
  return dataset;
}

type Reading = Pick<Call<unknown>, "of" | "screen">;

/** Ids alone: what else stands in the rows is not looked at. */
async function readIds(file: string, call: Reading, known: string | undefined): Promise<readonly string[]> {
  const nothing = new TfidfVectoriser({ options: {}, documents: 0, terms: [], documentFrequency: [] });
  const asked = readChoices(call).id;
  const { dataset } = await readData(file, call, {
    ...(asked === undefined && known !== undefined
      ? { keys: { text: [known, "id"], id: known } }
      : { text: asked ?? "id" }),
    nameOption: () => "--id",
    requireLabels: false,
    vectoriser: nothing,
    silent: true,
  });
  return dataset.ids ?? new Array<string>(dataset.features.rows).fill("");
}

/** "Learned 200 documents (3 replaced earlier versions), forgot 2, 5 new labels; 1,200 documents in all" */
function inWords(found: Record<"learned" | "corrected" | "forgotten" | "newLabels" | "documents", number>): string {
  const { learned, corrected, forgotten, newLabels, documents } = found;
  const done = [
    ...(learned > 0 || forgotten === 0
      ? [`Learned ${grouped(learned)} documents (${grouped(corrected)} replaced earlier versions)`]
      : []),
    ...(forgotten > 0 ? [`${learned > 0 ? "forgot" : "Forgot"} ${grouped(forgotten)} documents`] : []),
    ...(newLabels > 0 ? [`${grouped(newLabels)} new labels`] : []),
  ];
  return `${done.join(", ")}; ${grouped(documents)} documents in all`;
}

export const learnCommand: Command = command({
  name: "learn",
  positionals: "MODEL FILE",
  summary:
    "learn new and corrected documents (same id), or forget some, as if the model had been trained on what remains",
  examples: [
    "mlgpf train docs.jsonl --out tagger.safetensors --state tagger.state",
    "mlgpf learn tagger.safetensors new.jsonl --state tagger.state",
    "mlgpf learn tagger.safetensors gone.csv --state tagger.state --forget --out smaller.safetensors",
  ],
  options: {
    state: text("STATE", "state that mlgpf train --state wrote with the model", { required: true }),
    out: output("MODEL2", "output file for the new model", { default: "replaces MODEL" }),
    forget: on("remove the documents of FILE, by their ids"),
    weight: count("each document counts as N; forgetting it takes as much away", { to: MOST_WEIGHT, default: "1" }),
    json: on("print what was done as JSON"),
    threads,
    quiet,
  },
  tables: dataTables,
  async run({ args: [path, file], given, of, screen }) {
    const { state: asked = "", out = path, weight, forget, threads } = given;
    if (forget && weight !== undefined)
      throw new UsageError(
        "--weight: found with --forget, expected without: what is forgotten counts as it was learned",
      );
    for (const each of [out, asked]) {
      await checkWritable(each);
      await checkKeepable(each);
    }
    // Its journal, lock and record stand beside the file itself, whatever links lead there.
    const [statePath, target] = [(await targetOf(asked)).path, (await targetOf(out)).path];
    await withLock([statePath, target], async (check) => {
      await finishTogether(recordOf(statePath), [path, target]);
      const model = await openModel(path, file);
      const state = stateFromBytes(await readWhole(statePath), statePath);
      const call = { of, screen };
      const request: LearnRequest = forget
        ? { forget: await readIds(file, call, model.schema.keys?.id) }
        : { documents: await readDocuments(file, call, model), weight };
      const learned = await watched(
        screen,
        "Learning",
        () => "Nothing was changed.",
        (work) => learnOnce(model, state, request, { threads, ...work }),
      ).catch((error) => {
        if (!(error instanceof LearningError)) throw error;
        throw new Error(`${statePath}, ${file}: ${error.message}`);
      });
      const { content, behind } = stateContent(learned.state);
      const files = [
        { path: target, content: safetensorsChunks(modelToTensors(learned.model)) },
        { path: statePath, content, behind },
      ];
      await writeTogether(recordOf(statePath), files, check);
      const { learned: number, corrected, forgotten, newLabels } = learned;
      const documents = learned.model.schema.points;
      const done = { learned: number, corrected, forgotten, newLabels, documents };
      if (given.json) console.log(JSON.stringify(done));
      screen.say(inWords(done));
      screen.say(`${out} and ${statePath} (${sizeText((behind ?? 0) + bytesOf(content))}) written`);
    });
  },
});

const SHOWN = 5;
const HEAD = "id,line,value,variance,uncertainty,labels,probabilities";

function lineOf(found: QueriedDocument, { ids, lines }: Dataset, raw: boolean | undefined): string {
  const { row, value, variance, uncertainty, labels } = found;
  const shown = labels.slice(0, SHOWN);
  const cells = [
    ids?.[row] ?? "",
    lines?.[row] ?? row + 1,
    ...[value, variance, uncertainty].map((number) => Number(number.toPrecision(4))),
    labelsCell(shown),
    shown.map(({ probability }) => Number(probability.toPrecision(3))).join("|"),
  ];
  return cells.map((cell) => csvCell(cell, ",", raw)).join(",");
}

export const queryCommand: Command = command({
  name: "query",
  positionals: "MODEL FILE",
  summary: "active learning: the documents to label next, most informative first, near-duplicates once (CSV)",
  examples: [
    "mlgpf query tagger.safetensors unlabelled.jsonl --top 50 --out queries.csv",
    "mlgpf learn tagger.safetensors labelled.jsonl --state tagger.state",
  ],
  options: {
    top: count("number of documents", { default: "50" }),
    out: output("FILE", "write to a file (CSV)", { default: "standard output" }),
    rawCsv,
    threads,
    quiet,
  },
  tables: dataTables,
  async run({ args: [path, file], given: { top, out, rawCsv: raw, threads }, of, screen }) {
    const model = await openModel(path, file);
    const { dataset } = await readData(file, { of, screen }, { model, requireLabels: false });
    const found = await query(model, dataset, { top, threads });
    const lines = [HEAD, ...found.map((each) => lineOf(each, dataset, raw))];
    if (out === undefined) return await print(lines);
    await writeText(out, `${lines.join("\n")}\n`);
    screen.say(`${out} written: ${found.length} of ${grouped(dataset.features.rows)} documents`);
  },
});
