// A server that learns is taught as many new labels as it takes, a thousand in a request: when it refuses more, and the memory that
// all its threads have together.
//   node scripts/ts.mjs bench/trust/grow.ts gpr --documents 2000

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { inFolder, send, settled, started } from "./lessons.ts";

const { values, positionals } = parseArgs({
  options: { documents: { type: "string", default: "2000" } },
  allowPositionals: true,
});

const word = (i: number): string => `w${(i * 7919) % 5000}`;

async function grow(form: string, documents: number): Promise<void> {
  const text = (from: number, count: number): string =>
    Array.from({ length: count }, (_, j) => word(from + j * j * 17)).join(" ");
  const rows = Array.from({ length: documents }, (_, i) => ({
    id: `t${i}`,
    text: text(i * 31, 30),
    labels: [`l${i % 20}`],
  }));
  await inFolder(rows, form, async (model, state) => {
    const server = await started(model, state);
    const megabytes = (): string =>
      (Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1]) / 1024).toFixed(0);
    console.log(`${form}: ${megabytes()} MB at the start`);
    let label = 0;
    for (;;) {
      const lesson = Array.from({ length: 20 }, (_, i) => ({
        text: text(label + i, 10),
        subjects: Array.from({ length: 50 }, () => ({ label: `new ${label++}` })),
      }));
      const answer = await send(server.url, "learn", lesson);
      if (answer.status !== 204) {
        console.log(
          `${answer.status} ${((await answer.json()) as { detail: string }).detail}: ${megabytes()} MB at most`,
        );
        break;
      }
      await settled(server.url);
    }
    server.child.kill("SIGTERM");
    await server.gone;
  });
  process.exit(0);
}

await grow(positionals[0] ?? "gpr", Number(values.documents));
