// How the training went, and with what it was done.

import { readable } from "../../plots/numbers.ts";
import { trainOptions } from "../../train/options.ts";
import type { TrainingHistory } from "../history.ts";
import { type Html, html } from "../html.ts";
import type { ReportInput } from "../input.ts";
import { type LivePlot, plotFigure } from "../plots.ts";
import { duration, fileSize, optionText, section, table, whole } from "../text.ts";

/** From the first to the last value, in words. */
const change = (values: readonly number[]): string =>
  `from ${readable(values[0])} to ${readable(values.at(-1))}`;

export function livePlots({ steps, validations }: TrainingHistory): LivePlot[] {
  const plots: LivePlot[] = [];
  const x = { name: "step", values: steps.map(({ step }) => step) };
  if (steps.length > 1) {
    const bound = steps.map((step) => step.bound);
    const divergence = steps.map((step) => step.divergence);
    plots.push(
      {
        id: "bound",
        caption:
          "The bound: how well the model explains the labels, less what it had to learn for it. Higher is better. Each value comes from one batch, so the line trembles.",
        description: `The bound over the steps of the training, ${change(bound)}`,
        x,
        y: { name: "bound (nats)" },
        lines: [
          { name: "bound", values: bound },
          { name: "data term", values: steps.map(({ dataTerm }) => dataTerm) },
        ],
        dots: false,
      },
      {
        id: "divergence",
        caption:
          "The KL divergence: how far the model has moved from what it believed before seeing data. Training gives it a small weight first and raises that, so the line often rises and then falls.",
        description: `The KL divergence over the steps of the training, ${change(divergence)}`,
        x,
        y: { name: "KL (nats)" },
        lines: [{ name: "KL", values: divergence }],
        dots: false,
      },
    );
  }
  if (validations.length > 1) {
    const depths = ["P@1", "P@3", "P@5"];
    const of = (name: string): number[] => validations.map(({ metrics }) => metrics[name] ?? Number.NaN);
    plots.push({
      id: "precision",
      caption:
        "Precision on the validation points while training: part of the first one, three and five labels that is right.",
      description: `Precision over the steps of the training: ${depths.map((name) => `${name} ${change(of(name))}`).join(", ")} percent`,
      x: { name: "step", values: validations.map(({ step }) => step) },
      y: { name: "precision (%)" },
      lines: depths.map((name) => ({ name, values: of(name) })),
      dots: true,
    });
  }
  return plots;
}

/** Steps taken, and what was out of the ordinary about them. */
function facts({ summary }: ReportInput): string {
  const { steps = 0, epochs = 0, raisedFactorisations: raised = 0, earlyStopping: early } = summary;
  const list = [`${whole(steps)} steps, ${readable(epochs)} times over the data.`];
  if (early) {
    const { lastStep, plannedSteps } = early;
    list.push(
      `The training ended at step ${whole(lastStep)} of ${whole(plannedSteps)} and kept the parameters of step ${whole(steps)}, the best on the validation data. Figures measured on that same data flatter the model a little.`,
    );
  }
  if (raised > 0) list.push(`${whole(raised)} factorisations needed their diagonal raised.`);
  return list.join(" ");
}

export function course(input: ReportInput, plots: readonly LivePlot[]): Html | undefined {
  if (plots.length === 0) return undefined;
  return section(
    "course",
    "How the training went",
    html`<p>${facts(input)}</p>
`,
    plots.map(plotFigure),
  );
}

/** What an option is; a model of another version may have some that this one does not know. */
const meaningOf = (name: string): string | undefined =>
  (trainOptions as Record<string, { meaning: string } | undefined>)[name]?.meaning;

export function setup(input: ReportInput): Html {
  const { model, summary, run, history } = input;
  const size: [string, string][] = [
    [history ? "Data" : "Model", input.title],
    ["Training points", whole(summary.points)],
    ["Points without labels, left out", whole(summary.droppedPoints)],
    [model.fromText ? "Words" : "Features", whole(model.features)],
    ["Labels", whole(model.labels)],
    ["Model file", fileSize(model.bytes)],
  ];
  if (run.seconds !== undefined) size.push(["Time of training", duration(run.seconds)]);
  if (history) size.push(["Points a second", whole(history.pointsPerSecond)]);
  size.push(["Device", summary.device ?? "WASM"]);
  if (run.machine !== undefined) size.push(["Program and machine", run.machine]);
  size.push(...run.notes.map((note): [string, string] => ["Said by the training", note]));
  const { dataTerm, divergence } = summary;
  if (dataTerm !== undefined && divergence !== undefined)
    size.push(["Bound at the last step", readable(dataTerm - divergence)]);
  const options = Object.entries(summary.options).map(([name, value]) => [
    html`<code>${name}</code>`,
    meaningOf(name),
    optionText(value),
  ]);
  return section(
    "setup",
    "What was trained, and how",
    table("size", "Data, size and speed", [{ head: "What" }, { head: "Value" }], size),
    html`<p>With the same data, options and seed, training on WASM (without relaxed SIMD) gives the same model, byte for byte, on every machine.</p>
`,
    table(
      "options",
      "Every option that was in force",
      [{ head: "Option" }, { head: "Meaning" }, { head: "Value" }],
      options,
    ),
  );
}
