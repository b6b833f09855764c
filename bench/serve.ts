// mlgpf serve under load: the server is a process of its own, this one generates the load. Single texts at a steady
// 2,000 requests a second, then as fast as the connections go.

import { taggerSizes } from "./edge-problem.ts";
import type { BenchOptions } from "./harness.ts";
import { type Load, type LoadFigures, runLoad } from "./load.ts";
import { runtimes, startServer, withTagger } from "./server.ts";

const SECONDS = 5;
const WARM_UP_SECONDS = 3;

const loads: Record<string, Load> = {
  "2,000 a second": { connections: 32, seconds: SECONDS, rate: 2000 },
  "1 connection": { connections: 1, seconds: SECONDS },
  "16 connections": { connections: 16, seconds: SECONDS },
  "64 connections": { connections: 64, seconds: SECONDS },
};

export async function serveBench(options: BenchOptions): Promise<void> {
  const { features, labels, factors } = taggerSizes;
  if (!options.json)
    console.log(`\nmlgpf serve, single texts, K = ${labels}, P = ${factors}, D = ${features}, two processes`);
  await withTagger(async (path, texts) => {
    for (const runtime of Object.keys(runtimes)) {
      if (options.only !== undefined && !runtime.includes(options.only)) continue;
      const server = await startServer(runtime, path);
      await runLoad(server.port, texts, { connections: 16, seconds: WARM_UP_SECONDS });
      for (const [name, load] of Object.entries(loads))
        print(runtime, name, await runLoad(server.port, texts, load), options);
      const code = await server.stop();
      if (code !== 0) console.error(`${runtime}: found exit code ${code}, expected 0`);
    }
  });
}

function print(runtime: string, name: string, figures: LoadFigures, options: BenchOptions): void {
  if (options.json) {
    console.log(JSON.stringify({ case: "serve", runtime, load: name, ...figures }));
    return;
  }
  const { perSecond, p50, p99, worst, refused, lost } = figures;
  console.log(
    `  ${runtime.padEnd(6)} ${name.padEnd(16)} ${perSecond.toFixed(0).padStart(7)} requests/s   ` +
      `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, worst ${worst.toFixed(1)} ms   ${refused} refused, ${lost} lost`,
  );
}
