// mlgpf serve under attack and load at once: 1,000 honest requests a second beside fifty hostile clients (hostile.ts), and
// /health asked all the while. The model is calibrated, as trained ones are. npm run bench -- attack [--only Node]

import { spawn } from "node:child_process";
import { Agent, get } from "node:http";
import { calibrated } from "../../test/edge/support.ts";
import type { BenchOptions } from "../harness.ts";
import { type LoadFigures, runLoad } from "../load.ts";
import { type RunningServer, runtimes, startServer, withTagger } from "../server.ts";

const SECONDS = 20;
const WARM_UP_SECONDS = 3;
const RATE = 1000;
const HEALTH_MILLISECONDS = 50;

/** What is to be shown, and whether it was. */
interface Outcome extends LoadFigures {
  healthP99: number;
  healthWorst: number;
  megabytes: number;
  exitCode: number | null;
}

export async function attackBench(options: BenchOptions): Promise<void> {
  await withTagger(
    async (path, texts) => {
      for (const runtime of Object.keys(runtimes)) {
        if (options.only !== undefined && !runtime.includes(options.only)) continue;
        const server = await startServer(runtime, path);
        await runLoad(server.port, texts, { connections: 16, seconds: WARM_UP_SECONDS });
        const calm = await runLoad(server.port, texts, { connections: 64, seconds: 5, rate: RATE });
        const hostile = spawn(
          process.execPath,
          ["scripts/ts.mjs", "bench/trust/hostile.ts", String(server.port), String(SECONDS + 2)],
          { stdio: ["ignore", "inherit", "inherit"] },
        );
        const attacked = new Promise((done) => hostile.once("exit", done));
        await new Promise((done) => setTimeout(done, 1500));
        const health = watchHealth(server);
        const figures = await runLoad(server.port, texts, { connections: 64, seconds: SECONDS, rate: RATE });
        const { p99: healthP99, worst: healthWorst } = health.stop();
        await attacked;
        const megabytes = server.peakMegabytes();
        const outcome = { ...figures, healthP99, healthWorst, megabytes, exitCode: await server.stop() };
        print(runtime, calm, outcome, options);
      }
    },
    (model) => calibrated(model as Parameters<typeof calibrated>[0]),
  );
}

/** Asks /health now and then over a connection of its own; milliseconds of the answers. */
function watchHealth({ port }: RunningServer): { stop(): { p99: number; worst: number } } {
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const timer = setInterval(() => {
    const begin = performance.now();
    get({ port, host: "127.0.0.1", path: "/health", agent }, (response) => {
      response.resume().once("end", () => times.push(performance.now() - begin));
    }).on("error", () => times.push(Number.POSITIVE_INFINITY));
  }, HEALTH_MILLISECONDS);
  return {
    stop: () => {
      clearInterval(timer);
      agent.destroy();
      times.sort((a, b) => a - b);
      return { p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN, worst: times.at(-1) ?? Number.NaN };
    },
  };
}

function print(runtime: string, calm: LoadFigures, outcome: Outcome, options: BenchOptions): void {
  if (options.json) {
    console.log(JSON.stringify({ case: "attack", runtime, calm, ...outcome }));
    return;
  }
  const { answered, p50, p99, worst, refused, lost, healthP99, healthWorst, megabytes, exitCode } = outcome;
  const said = [
    `${runtime.padEnd(5)} ${answered} honest answers, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, worst ${worst.toFixed(0)} ms`,
    `(without an attack p99 ${calm.p99.toFixed(1)} ms)`,
    `${refused} refused, ${lost} lost; /health p99 ${healthP99.toFixed(1)}, worst ${healthWorst.toFixed(0)} ms`,
    `${megabytes.toFixed(0)} MB, exit code ${exitCode}`,
  ];
  console.log(`  ${said.join("\n        ")}`);
}
