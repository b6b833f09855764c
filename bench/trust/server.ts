// Strangers by the million: the requests of test/serve/grammar.ts, one seed each, against the built server in a process of
// its own. Goes on where it was stopped, from its state file.
//   node scripts/ts.mjs bench/trust/server.ts --runtime Node --count 1000000 [--from 1] [--at-once 64] [--state FILE]

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { script } from "../../test/serve/grammar.ts";
import { stranger } from "../../test/serve/stranger.ts";
import { type RunningServer, startServer, withTagger } from "../server.ts";

/** An answer that takes longer is a hang. */
const LONGEST_MILLISECONDS = 5000;
/** The time-out of the server: clients that never send the end take so long. */
const SERVER_SECONDS = 1;
const MEMORY_MEGABYTES = 512;
const REPORT_EVERY = 10_000;

interface State {
  runtime: string;
  /** The next seed. */
  next: number;
  played: number;
  crashes: number;
  /** Seeds with a wrong answer or none, and what was wrong. */
  wrong: string[];
  peakMegabytes: number;
}

const { values } = parseArgs({
  options: {
    runtime: { type: "string", default: "Node" },
    count: { type: "string", default: "1000000" },
    from: { type: "string", default: "1" },
    "at-once": { type: "string", default: "64" },
    state: { type: "string" },
  },
});
const { runtime } = values;
const file = values.state ?? `node_modules/.cache/mlgpf/trust-server-${runtime}.json`;
const [first, count] = [Number(values.from), Number(values.count)];

const state: State = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : { runtime, next: first, played: 0, crashes: 0, wrong: [], peakMegabytes: 0 };

const save = (): void => writeFileSync(file, JSON.stringify(state));

function report(): void {
  const { next, played, crashes, wrong, peakMegabytes } = state;
  const megabytes = peakMegabytes.toFixed(0);
  console.log(
    `${runtime}: ${played} requests up to seed ${next - 1}, ${crashes} crashes, ${wrong.length} wrong, ${megabytes} MB`,
  );
}

/** Whether an honest client is answered. */
async function isWell({ port }: RunningServer): Promise<boolean> {
  const asked = fetch(`http://127.0.0.1:${port}/predict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"text": "a text"}',
    signal: AbortSignal.timeout(LONGEST_MILLISECONDS),
  });
  return await asked.then(
    async (response) => response.ok && (await response.text()).includes("labels"),
    () => false,
  );
}

await withTagger(async (path) => {
  let server = await startServer(runtime, path, ["--id", "tagger", "--timeout", String(SERVER_SECONDS)]);
  // Between two rounds nothing is under way, so that a state file holds whole rounds.
  while (state.next < first + count) {
    const end = Math.min(first + count, state.next + REPORT_EVERY);
    let next = state.next;
    const client = async (): Promise<void> => {
      while (next < end && server.code === undefined) {
        const seed = next++;
        const fault = await stranger(server.port, script(seed), LONGEST_MILLISECONDS);
        if (fault !== undefined) state.wrong.push(`seed ${seed}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: Number(values["at-once"]) }, client));
    state.peakMegabytes = Math.max(state.peakMegabytes, server.peakMegabytes() || 0);
    if (server.code !== undefined || !(await isWell(server))) {
      state.crashes++;
      console.error(server.said().slice(-2000));
      if (server.code === undefined) await server.stop();
      server = await startServer(runtime, path, ["--id", "tagger", "--timeout", String(SERVER_SECONDS)]);
    }
    state.played += next - state.next;
    state.next = next;
    save();
    report();
  }
  await server.stop();
});
for (const each of state.wrong.slice(0, 20)) console.log(`  ${each}`);
const failed = state.crashes > 0 || state.wrong.length > 0 || state.peakMegabytes > MEMORY_MEGABYTES;
process.exit(failed ? 1 : 0);
