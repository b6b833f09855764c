// Odd lessons (test/serve/oddlessons.ts) for a server that learns, which is ended now and then, gently or not. Whatever it was
// taught, it must go on predicting and learning, start again, and have set nothing aside.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDataset } from "../../src/data/reader.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { type LearningState, stateToBytes } from "../../src/parts/regression/state.ts";
import { LEAST_ROWS } from "../../src/parts/split.ts";
import { train } from "../../src/train/train.ts";
import { Dice } from "../../test/serve/dice.ts";
import { oddLesson } from "../../test/serve/oddlessons.ts";
import { type LearningServer, startLearning } from "../kills.ts";

/** Most lessons in the life of a server, and lives until it begins with a new model: one that grows takes longer to learn. */
const LESSONS = 400;
const LIVES = 5;
const AT_ONCE = 4;
const STATUSES = [204, 400, 404, 413, 503, 507];

/** A model of these documents with its state, in a folder of its own. */
export async function inFolder<T>(
  rows: readonly object[],
  form: string,
  work: (model: string, state: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-lessons-"));
  const [model, state] = [join(folder, "tagger.model"), join(folder, "tagger.state")];
  try {
    const { dataset } = await readDataset(rows as never);
    const onState = (made: LearningState): void => writeFileSync(state, stateToBytes(made));
    writeFileSync(model, modelToBytes(await train(dataset, { model: form, onState })));
    return await work(model, state);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function started(model: string, state: string): Promise<LearningServer> {
  const server = await startLearning(model, state);
  if (typeof server === "string") throw new Error(server);
  return server;
}

export const send = (url: string, route: string, body: unknown): Promise<Response> =>
  fetch(`${url}/v1/projects/tagger/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body) ?? "",
  });

interface Status {
  waiting: number;
  documents: number;
  rejected: number;
  problem?: string;
}

const statusOf = async (url: string): Promise<Status> =>
  ((await (await fetch(`${url}/v1/projects/tagger`)).json()) as { learning: Status }).learning;

export async function settled(url: string): Promise<Status> {
  for (;;) {
    const status = await statusOf(url);
    if (status.waiting === 0 || status.problem !== undefined) return status;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Why a server is not as it should be; undefined where it is. */
async function faultOf({ url }: LearningServer, state: string): Promise<string | undefined> {
  const predicted = await fetch(`${url}/predict`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "paw",
  });
  if (!predicted.ok) return `predicting: ${predicted.status}`;
  const lesson = await send(url, "learn", [{ text: "the paw", subjects: [{ label: "cats" }] }]);
  if (lesson.status !== 204) return `an honest lesson: ${lesson.status} ${await lesson.text()}`;
  const { problem, rejected } = await settled(url);
  if (problem !== undefined) return problem;
  return rejected > 0 || existsSync(`${state}.rejected.jsonl`) ? "lessons were set aside" : undefined;
}

const WORDS = ["whiskers paw", "harbour sail", "violin chord"];

/** Teaches the servers of one model, which a seed chooses with all their lessons; throws what must never be. */
export async function teachOddly(seed: number): Promise<{ count: number; taken: number }> {
  const dice = new Dice(seed);
  const [labels, form] = [
    dice.of([
      ["cats", "ships", "music"],
      [3, 7, 2],
    ]),
    dice.of(["gpr", "gpr", "linear"]),
  ];
  // The linear form holds rows out, equal ones together.
  const rows = Array.from({ length: form === "linear" ? LEAST_ROWS : 24 }, (_, i) => ({
    id: `d${i}`,
    text: `the ${WORDS[i % 3]} ${form === "linear" ? `a${i % 40} b${Math.floor(i / 40)}` : ""}`,
    labels: [labels[i % 3]],
  }));
  return await inFolder(rows, form, async (model, state) => {
    let [count, taken] = [0, 0];
    for (let life = 0; life <= LIVES; life++) {
      const server = await started(model, state);
      const demand = (fault: string | undefined): void => {
        if (fault !== undefined) throw new Error(`${fault} in life ${life}, after ${count} lessons: ${server.said()}`);
      };
      try {
        demand(await faultOf(server, state));
        // The last life is one of an honest lesson alone.
        const end = count + (life === LIVES ? 0 : 1 + dice.below(LESSONS));
        const client = async (): Promise<void> => {
          while (count < end) {
            const lesson = seed * LESSONS * LIVES + count++;
            const { route, body } = oddLesson(lesson);
            const answer = await send(server.url, route, body);
            await answer.arrayBuffer();
            if (answer.status === 204) taken++;
            demand(STATUSES.includes(answer.status) ? undefined : `lesson ${lesson}: status ${answer.status}`);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, client));
      } finally {
        server.child.kill(life === LIVES || dice.chance(0.5) ? "SIGTERM" : "SIGKILL");
        await server.gone;
      }
      // Names of labels reach the log: they must not reach the terminal as they are.
      demand(/[^\P{Cc}\n\t]/u.test(server.said()) ? "escapes in the log" : undefined);
    }
    return { count, taken };
  });
}
