// A server that learns, killed (SIGKILL) at random moments while documents come in: after each start every document that
// was acknowledged must be in, and none twice. --rounds says how often it is killed.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LearningState, stateFromBytes, stateToBytes } from "../src/closed/state.ts";
import { readDataset } from "../src/data/reader.ts";
import { modelToBytes } from "../src/model/file.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { startServer } from "./server.ts";

const SUBJECTS = [
  ["cats", "whiskers paw purr feline"],
  ["ships", "harbour sail mast anchor"],
  ["music", "violin chord melody rhythm"],
] as const;
const START = 60;
/** What a server is taught in a life: many lives must not make a model that takes long to learn. */
const MOST_PAIRS = 8;
/** The longest that a server lives. */
const MOST_MILLISECONDS = 3000;

function documentOf(i: number): { id: string; text: string; label: string } {
  const [label, words] = SUBJECTS[i % 3] as (typeof SUBJECTS)[number];
  const word = (at: number): string => words.split(" ")[at % 4] as string;
  return { id: `d${i}`, text: `the ${word(i)} and the ${word(i >> 2)} of number ${i % 5}`, label };
}

async function writeModel(model: string, state: string): Promise<void> {
  const rows = Array.from({ length: START }, (_, i) => {
    const { id, text, label } = documentOf(i);
    return { id, text, labels: [label] };
  });
  const onState = (made: LearningState): void => writeFileSync(state, stateToBytes(made));
  const { dataset } = await readDataset(rows);
  writeFileSync(model, modelToBytes(await train(dataset, { likelihood: "gaussian", onState })));
}

/** Teaches two documents after another until the server is gone; says which were acknowledged, and which were under way. */
async function teachUntilGone(port: number, first: number): Promise<{ taken: string[]; open: string }> {
  const taken: string[] = [];
  for (let i = first; i < first + MOST_PAIRS; i++) {
    const { id, text, label } = documentOf(i);
    // The second has no id: learned twice it would be there twice.
    const nameless = { text, subjects: [{ label }] };
    const body = JSON.stringify([{ document_id: id, ...nameless }, nameless]);
    const url = `http://127.0.0.1:${port}/v1/projects/tagger/learn`;
    const headers = { "content-type": "application/json" };
    const status = await fetch(url, { method: "POST", headers, body }).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === undefined) return { taken, open: id };
    if (status !== 204) throw new Error(`found status ${status}, expected 204`);
    taken.push(id);
  }
  return { taken, open: "" };
}

export async function killsBench({ json, rounds }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-kills-"));
  const [model, state] = [join(folder, "tagger.model"), join(folder, "tagger.state")];
  try {
    await writeModel(model, state);
    const taken: string[] = [];
    const open = new Set<string>();
    let next = START;
    for (let round = 0; round < rounds; round++) {
      const server = await startServer("Node", model, ["--learn", state]);
      const taught = teachUntilGone(server.port, next);
      const gone = new Promise((done) => server.child.once("exit", done));
      setTimeout(() => server.child.kill("SIGKILL"), Math.random() * MOST_MILLISECONDS);
      const found = await taught;
      await gone;
      taken.push(...found.taken);
      if (found.open !== "") open.add(found.open);
      next += found.taken.length + 1;
    }
    const last = await startServer("Node", model, ["--learn", state]);
    await last.stop();
    const ids = stateFromBytes(readFileSync(state)).documents?.ids ?? [];
    const known = new Set(ids);
    const lost = taken.filter((id) => !known.has(id)).length;
    const named = ids.filter((id) => id !== "").length;
    const twice = ids.length - named - (named - START);
    const also = [...open].filter((id) => known.has(id)).length;
    const figures = { kills: rounds, acknowledged: taken.length, lost, twice, alsoLearned: also };
    console.log(
      json
        ? JSON.stringify(figures)
        : `${rounds} kills: ${taken.length} pairs of documents acknowledged, ${lost} lost, ${twice} twice; ${also} of ${open.size} not acknowledged learned all the same`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
