// The tagger of the page's first screen: all definitions of WordNet with the sample's groups, a linear model over their most frequent
// words, with the state that lessons need. Trained by the first build (some ten seconds) and kept until the sources change.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readWordNet } from "../../examples/wordnet/wordnet.ts";
import { type LearningState, modelToBytes, readDataset, selectRows, train } from "../../src/index.ts";
import { measureHeldOut } from "../worker/heldout.ts";
import type { HeldOut } from "../worker/messages.ts";
import { packState } from "../worker/packed.ts";
import { sampleLines } from "./sample.ts";

const CACHE = "node_modules/.cache/mlgpf";
/** Terms that have weights: the state grows with their square. */
const TERMS = 2500;
/** Definitions that are kept for measuring. */
const HELD = 2000;

export interface Tagger {
  model: Uint8Array;
  state: Uint8Array;
  held: HeldOut;
}

/** Everything that decides the tagger: the library and its kernels, the sample, how it is measured and packed. */
function identity(): string {
  const hash = createHash("sha256");
  const library = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("generated"))
    .map((name) => join("src", name))
    .sort();
  const own = ["site/tools/tagger.ts", "site/tools/sample.ts", "site/worker/heldout.ts", "site/worker/packed.ts"];
  for (const path of [...library, ...own, "examples/wordnet/wordnet.ts", "build/core.wasm"])
    hash.update(path).update(readFileSync(path));
  return hash.digest("hex").slice(0, 16);
}

async function trainTagger(): Promise<Tagger> {
  const { train: some, test: others } = readWordNet();
  const lines = sampleLines([...some, ...others]);
  const file = (part: string[]): Blob => new Blob([part.join("\n")]);
  const { dataset } = await readDataset(file(lines.slice(HELD)), {
    tfidf: { maxFeatures: TERMS, charNgrams: false, leadWords: 0 },
  });
  let state: LearningState | undefined;
  const model = await train(dataset, {
    model: "linear",
    onState: (made) => {
      state = made;
    },
  });
  if (state === undefined) throw new Error("found no state, expected one of a linear model");
  const { dataset: held } = await readDataset(file(lines.slice(0, HELD)), {
    vectoriser: dataset.vectoriser,
    labelNames: model.schema.labelNames,
    labelCount: model.schema.labels,
    keep: ["text"],
  });
  const rows = Int32Array.from({ length: held.features.rows }, (_, row) => row);
  return {
    model: modelToBytes(model),
    state: packState(state),
    held: await measureHeldOut(model, selectRows(held, rows)),
  };
}

/** The tagger: from the cache where nothing has changed since it was trained. */
export async function wordNetTagger(): Promise<Tagger> {
  const folder = join(CACHE, `tagger-${identity()}`);
  const path = (name: keyof Tagger): string => join(folder, name);
  if (!existsSync(path("held"))) {
    const { model, state, held } = await trainTagger();
    mkdirSync(folder, { recursive: true });
    writeFileSync(path("model"), model);
    writeFileSync(path("state"), state);
    // Last: where it is there, all are.
    writeFileSync(path("held"), JSON.stringify(held));
  }
  return {
    model: readFileSync(path("model")),
    state: readFileSync(path("state")),
    held: JSON.parse(readFileSync(path("held"), "utf8")) as HeldOut,
  };
}
