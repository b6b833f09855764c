// mlgpf serve that learns, under load: 2,000 suggestions a second for 20 s while a document is taught every second. All that
// was acknowledged must be in the model afterwards; latencies are those of the suggestions, stalls those of the thread that
// has the sockets (stalls.mjs). --only N asks N times a second instead, --minutes N goes on for so long.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { DataRow } from "../src/data/options.ts";
import { modelToBytes } from "../src/model/file.ts";
import { type LearningState, stateToBytes } from "../src/parts/regression/state.ts";
import { train } from "../src/train/train.ts";
import type { BenchOptions } from "./harness.ts";
import { httpRequest, runLoad } from "./load.ts";
import { randomMatrix } from "./problems.ts";
import { type RunningServer, startServer } from "./server.ts";

const [RATE, SECONDS, WARM_UP_SECONDS] = [2000, 20, 5];
const TEACH_MILLISECONDS = 1000;
const [DOCUMENTS, TAUGHT, WORDS, LABELS, LENGTH] = [2000, 4000, 4000, 200, 30];

/** Documents about one of the labels each, whose words are half of all texts and half of its own. */
function documents(): DataRow[] {
  const draws = randomMatrix(DOCUMENTS + TAUGHT, 2 * LENGTH, 5).map((draw) => (draw + 1) / 2);
  return Array.from({ length: DOCUMENTS + TAUGHT }, (_, i) => {
    const label = i % LABELS;
    const words = Array.from({ length: LENGTH }, (_, w) => {
      const rank = Math.floor(WORDS ** draws[2 * LENGTH * i + w]);
      const own = draws[2 * LENGTH * i + LENGTH + w] < 0.5;
      return `w${own ? (rank * 97 + label * 389) % WORDS : rank}`;
    });
    return { id: `d${i}`, text: words.join(" "), labels: [`l${label}`, `m${label % 20}`] };
  });
}

async function writeModel(rows: readonly DataRow[], model: string, state: string): Promise<void> {
  const onState = (made: LearningState): void => writeFileSync(state, stateToBytes(made));
  writeFileSync(model, modelToBytes(await train([...rows], { model: "gpr", onState })));
}

const suggestion = (text: string): Buffer =>
  httpRequest(
    "/v1/projects/tagger/suggest",
    "application/x-www-form-urlencoded",
    String(new URLSearchParams({ text, limit: "10" })),
  );

interface Standing {
  documents: number;
  waiting: number;
}

const standing = async ({ port }: RunningServer): Promise<Standing> => {
  const about = await (await fetch(`http://127.0.0.1:${port}/v1/projects/tagger`)).json();
  return (about as { learning: Standing }).learning;
};

/** Teaches a document every second until it is told to stop; says how many were acknowledged. */
function teach({ port }: RunningServer, rows: readonly DataRow[]): { stop(): Promise<number> } {
  let taken = 0;
  let last: Promise<void> = Promise.resolve();
  let next = 0;
  const timer = setInterval(() => {
    const { id, text, labels } = rows[next++] as { id: string; text: string; labels: string[] };
    const subjects = labels.map((label) => ({ label }));
    const asked = fetch(`http://127.0.0.1:${port}/v1/projects/tagger/learn`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify([{ document_id: id, text, subjects }]),
    }).then(({ status }) => {
      if (status === 204) taken++;
    });
    last = Promise.all([last, asked]).then(() => {});
  }, TEACH_MILLISECONDS);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      return taken;
    },
  };
}

export async function learningLoadBench({ json, only, minutes }: BenchOptions): Promise<void> {
  const folder = resolve(`node_modules/.cache/mlgpf/learning-load-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const [model, state] = [`${folder}/tagger.safetensors`, `${folder}/tagger.state`];
    const rows = documents();
    await writeModel(rows.slice(0, DOCUMENTS), model, state);
    const texts = rows.slice(0, 500).map(({ text }) => text as string);
    const stalls = { NODE_OPTIONS: "--import ./bench/stalls.mjs" };
    const server = await startServer("Node", model, ["--learn", state], stalls);
    await runLoad(server.port, texts, { connections: 16, seconds: WARM_UP_SECONDS, request: suggestion });
    server.child.kill("SIGUSR2");
    const teacher = teach(server, rows.slice(DOCUMENTS));
    const seconds = minutes === undefined ? SECONDS : minutes * 60;
    const rate = only === undefined ? RATE : Number(only);
    const figures = await runLoad(server.port, texts, {
      connections: 64,
      seconds,
      rate,
      request: suggestion,
    });
    const taken = await teacher.stop();
    let now = await standing(server);
    while (now.waiting > 0) now = await standing(server);
    const exitCode = await server.stop();
    const found = JSON.parse(/stalls (\{.*\})/.exec(server.said())?.[1] ?? "{}");
    const lost = DOCUMENTS + taken - now.documents;
    console.log(
      JSON.stringify({ ...figures, taught: taken, lostDocuments: lost, stalls: found, exitCode }, null, json ? 0 : 2),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
