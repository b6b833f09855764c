// Servers that learn, killed (SIGKILL) at random moments while documents come in: after each start every document that was
// acknowledged must be in, and none twice. One server after another; or (npm run bench -- trust --only servers) two at a time over
// the same state, each in a PID namespace of its own as in two containers (both are process 1): one of them learns, the other is
// refused and comes again.
//   npm run bench -- kills --rounds 200

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDataset } from "../src/data/reader.ts";
import { modelToBytes } from "../src/model/file.ts";
import { type LearningState, stateFromBytes, stateToBytes } from "../src/parts/regression/state.ts";
import { train } from "../src/train/train.ts";
import { generator } from "../test/support/numbers.ts";
import type { BenchOptions } from "./harness.ts";

const SUBJECTS = [
  ["cats", "whiskers paw purr feline"],
  ["ships", "harbour sail mast anchor"],
  ["music", "violin chord melody rhythm"],
] as const;
const START = 60;
/** Pairs of documents that a server is taught in a life: many lives must not make a model that takes long to learn. */
const MOST_PAIRS = 8;
/** The longest that a server lives. */
const MOST_MILLISECONDS = 3000;
/** The longest until one that was refused comes again. */
const MOST_PAUSE = 500;
const NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

function documentOf(i: number): { id: string; text: string; label: string } {
  const [label, words] = SUBJECTS[i % 3] as (typeof SUBJECTS)[number];
  const word = (at: number): string => words.split(" ")[at % 4];
  return { id: `d${i}`, text: `the ${word(i)} and the ${word(i >> 2)} of number ${i % 5}`, label };
}

/** A model with its state, beside each other in a folder. */
export async function writeModel(model: string, state: string): Promise<void> {
  const rows = Array.from({ length: START }, (_, i) => {
    const { id, text, label } = documentOf(i);
    return { id, text, labels: [label] };
  });
  const onState = (made: LearningState): void => writeFileSync(state, stateToBytes(made));
  const { dataset } = await readDataset(rows);
  writeFileSync(model, modelToBytes(await train(dataset, { model: "gpr", onState })));
}

export interface LearningServer {
  readonly url: string;
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
  said(): string;
}

/** Starts a server, or gives what it said when it was refused. */
export async function startLearning(
  model: string,
  state: string,
  { args = [], before = [] }: { args?: readonly string[]; before?: readonly string[] } = {},
): Promise<LearningServer | string> {
  const command = [process.execPath, "dist/cli.js", "serve", model, "--learn", state, "--port", "0", ...args];
  const [program, ...more] = [...before, ...command];
  const child = spawn(program, more, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const gone = new Promise((done) => child.once("exit", done));
  const url = await new Promise<string | undefined>((done) => {
    void gone.then(() => done(undefined));
    child.stderr.on("data", (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (found !== undefined) done(found);
    });
  });
  return url === undefined ? said : { url, child, gone, said: () => said };
}

/** What was taught, all servers together. */
interface Taught {
  next: number;
  readonly taken: string[];
  readonly open: Set<string>;
}

/** Teaches two documents after another until the server is gone or has enough. */
async function teachUntilGone(url: string, taught: Taught): Promise<void> {
  for (let pair = 0; pair < MOST_PAIRS; pair++) {
    const { id, text, label } = documentOf(taught.next++);
    // The second has no id: learned twice it would be there twice.
    const nameless = { text, subjects: [{ label }] };
    const body = JSON.stringify([{ document_id: id, ...nameless }, nameless]);
    const headers = { "content-type": "application/json" };
    const status = await fetch(`${url}/v1/projects/tagger/learn`, { method: "POST", headers, body }).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 204) taught.taken.push(id);
    else {
      taught.open.add(id);
      if (status !== undefined) throw new Error(`found status ${status}, expected 204`);
      return;
    }
  }
}

/** Lives of servers until they were killed so often together; returns how often one was refused, and two were up. */
async function live(
  paths: readonly [string, string],
  kills: number,
  servers: number,
  taught: Taught,
  next: () => number,
): Promise<{ refused: number; both: number }> {
  let [left, up, refused, both] = [kills, 0, 0, 0];
  const one = async (): Promise<void> => {
    while (left > 0) {
      const server = await startLearning(...paths, { before: servers > 1 ? NAMESPACE : [] });
      if (typeof server === "string") {
        if (!/is using it/.test(server)) throw new Error(server);
        refused++;
        await new Promise((done) => setTimeout(done, next() * MOST_PAUSE));
        continue;
      }
      if (++up > 1) both++;
      left--;
      const life = teachUntilGone(server.url, taught);
      setTimeout(() => server.child.kill("SIGKILL"), next() * MOST_MILLISECONDS);
      // The other may come up as soon as this one has died, before its client has noticed.
      await server.gone.then(() => up--);
      await life;
    }
  };
  await Promise.all(Array.from({ length: servers }, one));
  return { refused, both };
}

/** What came of servers that were killed while they were taught. */
interface Killed {
  /** Kills. */
  readonly count: number;
  readonly acknowledged: number;
  /** Not acknowledged, of so many, and learned all the same. */
  readonly also: number;
  readonly open: number;
  /** Starts while another server had the state. */
  readonly refusals: number;
}

/** Kills servers over one state so often; throws where a lesson is lost, learned twice or set aside, or two were up. */
export async function killServers(servers: number, count: number, seed: number): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-kills-"));
  const [model, state] = [join(folder, "tagger.model"), join(folder, "tagger.state")];
  try {
    await writeModel(model, state);
    const taught: Taught = { next: START, taken: [], open: new Set() };
    const { refused: refusals, both } = await live([model, state], count, servers, taught, generator(seed));
    const last = await startLearning(model, state);
    if (typeof last === "string") throw new Error(last);
    last.child.kill("SIGTERM");
    await last.gone;
    const ids = stateFromBytes(readFileSync(state)).documents?.ids ?? [];
    const known = new Set(ids);
    const lost = taught.taken.filter((id) => !known.has(id)).length;
    const named = ids.filter((id) => id !== "").length;
    const twice = ids.length - named - (named - START);
    const also = [...taught.open].filter((id) => known.has(id)).length;
    const setAside = existsSync(`${state}.rejected.jsonl`);
    const figures = { count, acknowledged: taught.taken.length, also, open: taught.open.size, refusals };
    if (lost > 0 || twice !== 0 || both > 0 || setAside)
      throw new Error(JSON.stringify({ ...figures, lost, twice, both, setAside }));
    return figures;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function killsBench({ json, rounds }: BenchOptions): Promise<void> {
  const found = await killServers(1, rounds, 1);
  const { acknowledged, also, open } = found;
  console.log(
    json
      ? JSON.stringify(found)
      : `${rounds} kills, ${acknowledged} pairs of documents acknowledged, none lost or twice; ` +
          `${also} of ${open} not acknowledged learned all the same`,
  );
}
