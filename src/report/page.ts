// The report: one HTML file that needs nothing else and runs no script. The same input gives the same text.

import { style } from "../generated/report.ts";
import { trainOptions } from "../parts/options.ts";
import { collectReport, type Measured, type ReportInput, type ReportSource } from "./collect.ts";
import { type LinesPlot, linesFigure, mapDrawing } from "./drawings.ts";
import { expectationLines } from "./figures.ts";
import type { TrainingHistory } from "./history.ts";
import { breakable, Html, type HtmlPart, html, paragraph, section, textTable, tight, whole } from "./html.ts";
import { bestAndWorst, calibration, confusions, cut, frequencies, labelName, rankings, samples } from "./measured.ts";
import { duration, percent, readable, sizeText } from "./numbers.ts";

export const makeReport = async (source: ReportSource): Promise<string> => htmlReport(await collectReport(source));

/** Nothing is loaded from anywhere, and no script runs. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function htmlReport(input: ReportInput): string {
  const { measured, schema } = input;
  const sections = [
    ...(measured
      ? [
          rankings(measured),
          calibration(measured),
          cut(measured, input.evidence ?? ""),
          frequencies(input, measured),
          bestAndWorst(schema, measured),
          confusions(schema, measured),
        ]
      : []),
    groups(input),
    measured && samples(schema, measured),
    course(input),
    setup(input),
  ];
  return documentOf(`${input.title}: mlgpf report`, [summary(input), sections]);
}

/** A page that needs nothing else. */
export const documentOf = (title: string, content: HtmlPart): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
${content}</main>
</body>
</html>
`.text;

/** The first screen: the model and how good it is, in a few sentences and figures. */
function summary(input: ReportInput): Html {
  const { schema, measured, run, title } = input;
  const time = run.seconds === undefined ? "" : ` in ${duration(run.seconds)}`;
  return html`<header>
<p class="kind">mlgpf report</p>
<h1>${title}</h1>
<p class="lead">A model of ${whole(schema.labels)} labels, trained on ${whole(schema.points)} rows${time}. ${measured ? verdict(measured) : undefined}</p>
<dl class="cards">${cards(input).map(
    ([
      name,
      value,
      meaning,
    ]) => html`<div><dt>${name}</dt><dd class="figure">${tight(value)}</dd><dd>${meaning}</dd></div>
`,
  )}</dl>
${measured ? (measured.expectation.beyondChance ? surprise(measured) : undefined) : HOW_TO_MEASURE}</header>
`;
}

const HOW_TO_MEASURE = html`<p class="note" id="unmeasured">How good the model is was not measured. Give it rows with known labels that it was not trained on: <code>mlgpf train FILE --out MODEL --valid FILE --report FILE</code>, or for a model you have <code>mlgpf eval MODEL FILE --report FILE</code>.</p>
`;

function verdict({ expectation: { points, confidence, accuracy }, file }: Measured): string {
  return `On ${file} (${whole(points)} rows) its top label was right ${percent(accuracy)} of the time; it had predicted ${percent(confidence)}.`;
}

/** Said where what was observed is not what the model predicted. */
const surprise = ({ expectation }: Measured): Html =>
  html`<p class="note" id="surprise">${expectationLines(expectation).join(" ")}</p>
`;

function cards({ schema, bytes, measured, run, history }: ReportInput): [string, string, string][] {
  const list: [string, string, string][] = [];
  if (measured) {
    const { ranking, calibration, singleLabel } = measured;
    const inPercent = (name: string): string => percent(ranking.metrics[name] / 100);
    if (singleLabel) list.push(["Accuracy", percent(singleLabel.accuracy), "of rows get their label first"]);
    list.push(
      ["P@1", inPercent("P@1"), "of top labels are right"],
      ["P@5", inPercent("P@5"), "of the top five labels are right"],
      ["R@5", inPercent("R@5"), "of the true labels are among the top five"],
      ["ECE@5", percent(calibration.top5.ece, 2), "calibration error of the top five labels"],
      ["Log loss", calibration.logLoss.toFixed(2), "nats a row; less is better"],
    );
  }
  if (run.seconds !== undefined) list.push(["Time", duration(run.seconds), "of training"]);
  if (history?.pointsPerSecond) list.push(["Speed", whole(history.pointsPerSecond), "rows a second"]);
  list.push(["Model", sizeText(bytes), "on disk"], ["Labels", whole(schema.labels), "known to it"]);
  return list;
}

function groups({ schema, groups: found }: ReportInput): Html | undefined {
  if (found === undefined) return undefined;
  const { neighbours, map, factors } = found;
  const dots = Array.from(map.labels, (label, i) => ({
    name: labelName(schema, label),
    count: schema.labelCounts[label],
    x: map.x[i],
    y: map.y[i],
  }));
  const part =
    map.labels.length < schema.labels ? `the ${whole(map.labels.length)} most frequent labels` : "all labels";
  return section(
    "groups",
    "How labels group",
    paragraph`Labels share ${whole(factors)} latent functions, the factors. Two labels that weigh the factors alike rise and fall together. The cosine says how alike: 1 is the same direction, 0 is nothing in common, −1 is opposite.`,
    textTable(
      "neighbours",
      "The most frequent labels and those nearest to them, with the cosine",
      ["Label", "Nearest labels"],
      neighbours.map(({ label, near }) => [
        breakable(labelName(schema, label)),
        near.map(
          (other, i) =>
            html`${i > 0 ? ", " : ""}<span class="near">${breakable(labelName(schema, other.label))} <small>${other.cosine.toFixed(2)}</small></span>`,
        ),
      ]),
    ),
    html`<figure>${mapDrawing(dots)}
<figcaption>Map of ${part}: the plane in which their directions are spread most. It shows ${percent(map.shown, 0)} of the spread, so labels far apart here differ, while neighbours may still differ in what the plane leaves out. Larger dots are more frequent labels; the name of a dot appears when the pointer rests on it.</figcaption></figure>
`,
  );
}

/** From the first to the last value, in words. */
const change = (values: readonly number[]): string => `from ${readable(values[0])} to ${readable(values.at(-1))}`;

function coursePlots({ steps, validations }: TrainingHistory): LinesPlot[] {
  const values = (name: "step" | "bound" | "dataTerm" | "divergence"): number[] => steps.map((step) => step[name]);
  const precision = (name: string): number[] => validations.map(({ metrics }) => metrics[name] ?? Number.NaN);
  const depths = ["P@1", "P@3", "P@5"];
  const overSteps = { x: { name: "step", values: values("step") }, dots: false };
  const plots: LinesPlot[] = [
    {
      ...overSteps,
      id: "bound",
      caption:
        "The bound (ELBO): how well the model explains the labels, less what it had to learn for it. Higher is better. Each value comes from one minibatch, so the line trembles.",
      description: `The bound over the steps of the training, ${change(values("bound"))}`,
      y: { name: "bound (nats)" },
      lines: [
        { name: "bound", values: values("bound") },
        { name: "data term", values: values("dataTerm") },
      ],
    },
    {
      ...overSteps,
      id: "divergence",
      caption:
        "The KL divergence: how far the model has moved from what it believed before seeing data. Training gives it a small weight first and raises that, so the line often rises and then falls.",
      description: `The KL divergence over the steps of the training, ${change(values("divergence"))}`,
      y: { name: "KL (nats)" },
      lines: [{ name: "KL", values: values("divergence") }],
    },
    {
      id: "precision",
      caption:
        "Precision on the validation rows while training: the part of the first one, three and five labels that is right.",
      description: `Precision over the steps of the training: ${depths.map((name) => `${name} ${change(precision(name))}`).join(", ")} percent`,
      x: { name: "step", values: validations.map(({ step }) => step) },
      y: { name: "precision (%)" },
      lines: depths.map((name) => ({ name, values: precision(name) })),
      dots: true,
    },
  ];
  return plots.filter(({ x }) => x.values.length > 1);
}

function course({ summary, history }: ReportInput): Html | undefined {
  const plots = history ? coursePlots(history) : [];
  if (plots.length === 0) return undefined;
  const { steps = 0, epochs = 0, raisedFactorisations: raised = 0, earlyStopping: early } = summary;
  const facts = [`${whole(steps)} steps, ${readable(epochs)} times over the data.`];
  if (early)
    facts.push(
      `The training ended at step ${whole(early.lastStep)} of ${whole(early.plannedSteps)} and kept the parameters of step ${whole(steps)}, the best on the validation data. Figures measured on that same data flatter the model a little.`,
    );
  if (raised > 0) facts.push(`${whole(raised)} factorisations needed their diagonal raised.`);
  return section("course", "How the training went", paragraph`${facts.join(" ")}`, plots.map(linesFigure));
}

/** The meaning of an option; a model of another version may have unknown ones. */
const meaningOf = (name: string): string | undefined =>
  (trainOptions as Record<string, { meaning: string } | undefined>)[name]?.meaning;

/** A value of an option, as it is written on the command line. */
function optionText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return JSON.stringify(value);
  return String(typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value);
}

function setup(input: ReportInput): Html {
  const { schema, bytes, summary, run, history } = input;
  const { dataTerm, divergence } = summary;
  const bound = dataTerm === undefined || divergence === undefined ? undefined : readable(dataTerm - divergence);
  const facts: [string, string | undefined][] = [
    [history ? "Data" : "Model", input.title],
    ["Training rows", whole(schema.points)],
    ["Rows without labels, left out of training", whole(summary.droppedPoints)],
    [schema.vectoriser ? "Words" : "Features", whole(schema.features)],
    ["Labels", whole(schema.labels)],
    ["Model file", sizeText(bytes)],
    ["Time of training", run.seconds === undefined ? undefined : duration(run.seconds)],
    ["Rows a second", history?.pointsPerSecond ? whole(history.pointsPerSecond) : undefined],
    ["Device", summary.device ?? "WASM"],
    ["Program and machine", run.machine],
    ...run.notes.map((note): [string, string] => ["Note of the training", note]),
    ["Bound at the last step", bound],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const options = Object.entries(summary.options).map(([name, value]) => {
    return [html`<code>${name}</code>`, meaningOf(name), optionText(value)];
  });
  return section(
    "setup",
    "What was trained, and how",
    textTable("size", "Data, size and speed", ["What", "Value"], known),
    paragraph`With the same data, options and seed, training on WASM (without relaxed SIMD) gives the same model, byte for byte, on every machine.`,
    textTable("options", "Every option that was in force", ["Option", "Meaning", "Value"], options),
  );
}
