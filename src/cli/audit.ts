// mlgpf audit MODEL FILE, and mlgpf train --audit: labels of the data that are probably mistakes.

import type { Dataset } from "../data/dataset.ts";
import type { ModelSchema } from "../parts/part.ts";
import { auditCsv, auditHtml } from "../report/audit.ts";
import { grouped } from "../report/numbers.ts";
import { audit, type Suspect } from "../train/audit.ts";
import { type Command, command } from "./command.ts";
import { dataTables, nameOf, readData } from "./data.ts";
import { rawCsv } from "./eval.ts";
import { count, on, output, quiet, threads, UsageError } from "./flags.ts";
import { openModel, writeText } from "./models.ts";
import { watched } from "./progress.ts";
import { print, type Terminal } from "./terminal.ts";

export function checkAuditName(option: string, path: string | undefined): void {
  if (path !== undefined && !/\.(csv|html?)$/i.test(path))
    throw new UsageError(`--${option}: found ${path}, expected a name that ends with .csv or .html`);
}

export async function writeAudit(
  path: string,
  suspects: readonly Suspect[],
  { title, schema, data, raw }: { title: string; schema: ModelSchema; data: Dataset; raw?: boolean | undefined },
  screen: Terminal,
): Promise<void> {
  const content = /\.csv$/i.test(path) ? auditCsv(suspects, raw) : auditHtml(title, suspects, schema, data);
  await writeText(path, content);
  const likely = suspects.filter(({ chance }) => chance > 0.5).length;
  screen.say(
    `${path} written: ${grouped(suspects.length)} suspicious labels, ${grouped(likely)} of them more likely wrong than not`,
  );
}

export const auditCommand: Command = command({
  name: "audit",
  positionals: "MODEL FILE",
  summary: "list labels of the data that may be wrong or missing, worst first (CSV, HTML)",
  examples: [
    "mlgpf audit tagger.safetensors docs.jsonl --out suspects.csv",
    "mlgpf audit tagger.safetensors docs.jsonl --out suspects.html --top 100",
    "mlgpf audit tagger.safetensors other.jsonl --unseen",
  ],
  options: {
    out: output("FILE", "write to a file (.csv or .html)"),
    top: count("at most N labels", { default: "500" }),
    unseen: on("the model was not trained on these rows; otherwise it is fitted again without them"),
    rawCsv,
    threads,
    quiet,
  },
  tables: dataTables,
  async run({ args: [path, file], given, of, screen }) {
    const { out, top, unseen, threads, rawCsv: raw } = given;
    checkAuditName("out", out);
    const model = await openModel(path, file);
    const { dataset } = await readData(file, { of, screen }, { model });
    const suspects = await watched(
      screen,
      "Auditing",
      () => "Nothing was written.",
      (work) => audit(model, dataset, { top, unseen, threads, ...work }),
    );
    if (out === undefined) return await print([auditCsv(suspects, raw).trimEnd()]);
    await writeAudit(out, suspects, { title: nameOf(file), schema: model.schema, data: dataset, raw }, screen);
  },
});
