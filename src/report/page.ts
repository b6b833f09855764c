// The report: one HTML file that needs nothing else and runs no script. The same input gives the same text.

import { CONFIDENCE } from "../base/prediction.ts";
import { style } from "../generated/report.ts";
import type { LabelFigures } from "../metrics/perlabel.ts";
import type { Reliability } from "../metrics/reliability.ts";
import type { ThresholdFigures } from "../metrics/thresholds.ts";
import { trainOptions } from "../parts/options.ts";
import type { ModelSchema } from "../parts/part.ts";
import { collectReport, type Measured, type ReportInput, type ReportSource, type Sample } from "./collect.ts";
import { type LinesPlot, linesFigure, reliabilityDrawing } from "./drawings.ts";
import * as figures from "./figures.ts";
import type { TrainingHistory } from "./history.ts";
import {
  breakable,
  Html,
  type HtmlPart,
  html,
  paragraph,
  section,
  shorten,
  table,
  textAlone,
  tight,
  whole,
} from "./html.ts";
import { countRange, duration, percent, readable, sizeText } from "./numbers.ts";

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
    measured && samples(schema, measured),
    course(input),
    setup(input),
  ];
  return documentOf(`${input.title}: mlgpf report`, [summary(input), sections]);
}

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
  return `On ${file} (${whole(points)} rows) its top label was right ${tight(percent(accuracy))} of the time; it had predicted ${tight(percent(confidence))}.`;
}

/** Said where what was observed is not what the model predicted. */
const surprise = ({ expectation }: Measured): Html =>
  html`<p class="note" id="surprise">${figures.expectationLines(expectation).join(" ")}</p>
`;

function cards({ schema, bytes, measured, run, history }: ReportInput): [string, string, string][] {
  const list: [string, string, string][] = [];
  if (measured) {
    const { labels, kept, ranking, calibration, singleLabel } = measured;
    const inPercent = (name: string): string => percent(ranking.metrics[name] / 100);
    if (singleLabel) list.push(["Accuracy", percent(singleLabel.accuracy), "of rows get their label first"]);
    if (labels === 1)
      list.push(
        ["Precision", percent(kept.overall.precision), "of rows over the threshold have the label"],
        ["Recall", percent(kept.overall.recall), "of rows with the label are found"],
      );
    else
      list.push(
        ["P@1", inPercent("P@1"), "of top labels are right"],
        ["P@5", inPercent("P@5"), "of the top five labels are right"],
        ["R@5", inPercent("R@5"), "of the true labels are among the top five"],
      );
    list.push(
      ["ECE@5", percent(calibration.top5.ece, 2), "calibration error of the top five labels"],
      ["Log loss", calibration.logLoss.toFixed(2), "nats a row; less is better"],
    );
  }
  if (run.seconds !== undefined) list.push(["Time", duration(run.seconds), "of training"]);
  if (history?.pointsPerSecond) list.push(["Speed", whole(history.pointsPerSecond), "rows a second"]);
  list.push(["Model", sizeText(bytes), "on disk"], ["Labels", whole(schema.labels), "known to it"]);
  return list;
}

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
  const { steps = 0, epochs = 0, raisedFactorisations: raised = 0 } = summary;
  const facts = [`${whole(steps)} steps, ${readable(epochs)} times over the data.`];
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
    "Data, options and machine",
    table("size", "Data, size and speed", ["What", "Value"], known, textAlone),
    paragraph`With the same data, options and seed, training on WASM (without relaxed SIMD) gives the same model, byte for byte, on every machine.`,
    table("options", "Every option that was in force", ["Option", "Meaning", "Value"], options, textAlone),
  );
}

const LABEL_LETTERS = 90;

function labelName({ labelNames, labels, unseenLabels }: ModelSchema, label: number): string {
  const name = labelNames?.[label] ?? unseenLabels?.[label - labels];
  if (name !== undefined && name !== "") return shorten(name, LABEL_LETTERS);
  return label < labels ? `label ${label}` : `label ${label}, unknown to the model`;
}

function figureTable({ id, caption, head, rows, meanings }: figures.FigureTable): Html {
  const cells = rows.map(([name, ...rest], i) => [
    meanings ? html`${name}<small>${meanings[i]}</small>` : name.charAt(0).toUpperCase() + name.slice(1),
    ...rest.map((cell) => tight(cell.trim())),
  ]);
  return table(
    id,
    caption,
    head.map((each) => each.trim()),
    cells,
  );
}

function rankings(measured: Measured): Html {
  const { ranking, singleLabel, coverage } = measured;
  const single = singleLabel && paragraph`Every row has exactly one label. Accuracy: ${percent(singleLabel.accuracy)}.`;
  return section(
    "rankings",
    "Ranking quality",
    paragraph`For each row the model puts all labels in order, the most probable first. The table measures the first one, three and five. 100 is not always possible: a row with two labels has a P@5 of at most 40. Measured on ${measured.file}: ${figures.rowsLines(measured).join(" ")}`,
    single,
    figureTable(figures.rankingTable(ranking)),
    paragraph`Coverage error ${coverage.error.toFixed(2)}: labels down the ranking until all true ones are found, on average; ${coverage.best.toFixed(2)} would be perfect.`,
  );
}

function calibration(measured: Measured): Html {
  const { logLoss, brier, allPairs, unknownLabels } = measured.calibration;
  const { error, labels } = measured.labelCalibration;
  const kinds = [
    ["top5", "Top 5 labels of each row"],
    ["overFivePercent", "All predictions of at least 5 %"],
  ] as const;
  const plots = kinds.map(
    ([kind, name]) => html`<figure>${reliabilityDrawing(name, measured.calibration[kind].groups)}
<figcaption>${name}: ${plotCaption(measured.calibration[kind])}</figcaption></figure>
`,
  );
  return section(
    "probabilities",
    "Calibration",
    html`<p>Of all labels that were predicted with a probability of 70 %, about 70 % should be true. The plots sort predictions by their probability and cut them into bins of equal count. A dot on the dashed line is calibrated; above it the model was underconfident, below it overconfident. The bar through a dot is its 95 % interval (Wilson): a bar that meets the line may be off by chance alone.</p>
<div class="pair">${plots}</div>
`,
    figureTable(figures.calibrationTable(measured.calibration)),
    paragraph`Confidence is the mean probability, accuracy the part that was true. ECE is the mean distance of the two within 15 bins of equal width (of the top 5 labels: ECE@5), so that errors up and down do not cancel; ACE the same with bins of equal count. Calibration error by label (ECE_ML): ${(100 * error).toFixed(2)}, the mean over ${whole(labels)} labels.`,
    table(
      "proper",
      "Proper scores, a row; less is better",
      ["Metric", "Value"],
      [
        [
          html`Log loss<small>−ln of the probability given to what happened, summed over the labels of a row</small>`,
          logLoss.toFixed(4),
        ],
        [
          html`Brier score<small>squared distance of probability and truth, summed over the labels of a row</small>`,
          brier.toFixed(4),
        ],
      ],
    ),
    kinds.map(
      ([kind, name]) => html`<details><summary>The plot as a table: ${name}</summary>
${figureTable(figures.reliabilityTable(kind, name, measured.calibration[kind]))}</details>
`,
    ),
    paragraph`<small>Over all ${whole(allPairs.predictions)} pairs of a row and a label the ECE is ${(100 * allPairs.ece).toFixed(4)} percentage points. Nearly all pairs are absences of which any model is certain, so this says little about the labels that matter.${unknownLabels > 0 ? ` ${whole(unknownLabels)} true labels are unknown to the model and not included in the figures of this section.` : ""}</small>`,
  );
}

function plotCaption({ predictions, groups }: Reliability): string {
  if (predictions === 0) return "there are none.";
  const [most, least] = [groups[0].count, groups[groups.length - 1].count];
  const each = most === least ? whole(most) : `${whole(least)} or ${whole(most)}`;
  return `${whole(predictions)} predictions, ${each} behind each dot.`;
}

function thresholdPlot({ thresholds: { thresholds, best } }: Measured): LinesPlot {
  const of = (value: (figures: ThresholdFigures) => number): number[] =>
    thresholds.map((figures) => 100 * value(figures));
  const f1 = thresholds.find(({ threshold }) => threshold === best.overall)?.overall.f1 ?? 0;
  return {
    id: "thresholds",
    caption: `Precision, recall and F1 over all predictions together. F1 is best at a threshold of ${best.overall}.`,
    description: `Precision, recall and F1 by threshold; F1 is best, ${percent(f1)}, at ${best.overall}`,
    x: { name: "threshold", values: thresholds.map(({ threshold }) => threshold) },
    y: { name: "percent", from: 0, to: 100 },
    lines: (["precision", "recall", "f1"] as const).map((name) => ({
      name: name === "f1" ? "F1" : name,
      values: of(({ overall }) => overall[name]),
    })),
    dots: true,
  };
}

/** Promised against kept, a curve for recall and one for precision; the dashed line is where both are equal. */
function promised({ guarantees = [] }: Measured, evidence: string): Html | undefined {
  if (guarantees.length === 0) return undefined;
  const shown = guarantees.filter(({ confidence = CONFIDENCE }) => confidence === CONFIDENCE);
  const targets = [...new Set(shown.map(({ target }) => target))].sort((a, b) => a - b);
  const observed = (promise: string): number[] =>
    targets.map((t) => 100 * (shown.find((e) => e.promise === promise && e.target === t)?.observed ?? Number.NaN));
  const plot: LinesPlot = {
    id: "promises",
    caption:
      "Promised against observed recall and precision: a promise is kept where its line is not below that of the target.",
    description: "Observed recall and precision by what was promised; the numbers are in the table",
    x: { name: "promised (%)", values: targets.map((target) => 100 * target) },
    y: { name: "observed (%)" },
    lines: [
      { name: "target", values: targets.map((target) => 100 * target) },
      { name: "recall", values: observed("recall") },
      { name: `precision, confidence ${CONFIDENCE}`, values: observed("precision") },
    ],
    dots: true,
  };
  return html`<h3>Promised and observed</h3>
${paragraph`The model promises a recall on average over rows, and a precision that holds in ${percent(CONFIDENCE)} of trainings (<code>--recall</code>, <code>--precision</code>). These promises were ${evidence}.`}${linesFigure(plot)}
<details><summary>The plot as a table</summary>
${figureTable(figures.guaranteeTable(shown))}</details>
`;
}

function cut(measured: Measured, evidence: string): Html {
  const { overall, byLabel, byDocument } = measured.thresholds.best;
  return section(
    "cut",
    "Choosing a threshold",
    paragraph`To tag texts, keep every label at least as probable as some threshold. A higher one keeps fewer labels, and more of them are right (precision); a lower one misses fewer true labels (recall). F1 weighs both. The best thresholds here are ${overall} for micro F1 (all predictions together), ${byLabel} for macro F1 (the mean over labels) and ${byDocument} for the mean over rows. They were found on the data they are measured on, so what they promise is a little too good.`,
    linesFigure(thresholdPlot(measured)),
    figureTable(figures.keptTable(measured.kept)),
    html`<details><summary>All thresholds</summary>
${figureTable(figures.thresholdTable(measured.thresholds))}</details>
`,
    promised(measured, evidence),
  );
}

function frequencies({ schema }: ReportInput, measured: Measured): Html | undefined {
  const byFrequency = figures.frequencyTable(measured);
  if (byFrequency === undefined) return undefined;
  const found = measured.calibration.byFrequency.map((group) => {
    const occurring = measured.perLabel.filter(({ label, positives }) => {
      const count = schema.labelCounts[label];
      return positives > 0 && count >= group.from && count <= (group.to ?? Number.POSITIVE_INFINITY);
    });
    const share = (of: (figures: LabelFigures) => number, among: number): string =>
      among > 0 ? percent(occurring.reduce((sum, figures) => sum + of(figures), 0) / among) : "–";
    return [
      countRange(group),
      whole(group.labels),
      whole(group.positives),
      share((figures) => figures.found, group.positives),
      share((figures) => figures.averagePrecision, occurring.length),
    ];
  });
  return section(
    "frequency",
    "Rare and frequent labels",
    paragraph`A label that training saw often is easier to learn. Found: how many of its true occurrences are among the top five labels of their row. Average precision: how far the label's own rows stand above all others when rows are ranked for that label; 100 % is perfect.`,
    table(
      "byFrequency",
      "Labels by how many training rows have them",
      ["Training rows", "Labels", "Occurrences", "Found", "Average precision"],
      found,
    ),
    figureTable(byFrequency),
  );
}

const SHOWN = 12;
/** Labels with few occurrences come out well or badly by chance: the most of these that leaves enough labels. */
const OCCURRENCES = [20, 10, 5, 2];

function bestAndWorst(schema: ModelSchema, { perLabel: all, file }: Measured): Html {
  const perLabel = all.filter(({ positives }) => positives > 0);
  const withAtLeast = (least: number): LabelFigures[] => perLabel.filter(({ positives }) => positives >= least);
  const least = OCCURRENCES.find((count) => withAtLeast(count).length >= 2 * SHOWN) ?? 1;
  const order = withAtLeast(least).sort(
    (a, b) => b.averagePrecision - a.averagePrecision || b.positives - a.positives || a.label - b.label,
  );
  const shown = Math.min(SHOWN, Math.floor(order.length / 2));
  const unseen = schema.labels - perLabel.length;
  const title = "Best and worst labels";
  if (shown === 0)
    return section("labels", title, paragraph`Fewer than two labels occur in ${file}: there is nothing to compare.`);
  const labelTable = (id: string, caption: string, figures: readonly LabelFigures[]): Html =>
    table(
      id,
      caption,
      ["Label", "Average precision", "Found in top five", "Expected there", "Training rows"],
      figures.map(({ label, averagePrecision, found, positives, expected }) => [
        breakable(labelName(schema, label)),
        percent(averagePrecision),
        `${whole(found)} of ${whole(positives)}`,
        whole(expected),
        whole(schema.labelCounts[label]),
      ]),
    );
  return section(
    "labels",
    title,
    paragraph`By average precision on ${file}, among the ${whole(order.length)} labels that occur there ${least === 1 ? "at all" : `${least} times or more`}. ${unseen > 0 ? `${whole(unseen)} of the ${whole(schema.labels)} labels do not occur there at all. ` : ""}A poor label often has few training rows, or a meaning that words do not show. Expected there: how many rows the model expected to have it, the sum of its probabilities.`,
    labelTable("best", "Best", order.slice(0, shown)),
    labelTable("worst", "Worst", order.slice(-shown).reverse()),
  );
}

/** Labels of a confusion table, and pairs of a list where there are more labels. */
const [MOST_CONFUSED, MOST_PAIRS] = [12, 20];

/** Which labels are taken for which, where every row has exactly one. */
function confusions(schema: ModelSchema, { singleLabel, perLabel }: Measured): Html | undefined {
  if (singleLabel === undefined) return undefined;
  const { confusion } = singleLabel;
  const labels = perLabel.filter(({ positives }) => positives > 0).map(({ label }) => label);
  const intro = paragraph`Every row has exactly one label, and the first label of the model is its answer.`;
  const name = (label: number): HtmlPart => breakable(label < 0 ? "none" : labelName(schema, label));
  const all = (): Html => {
    const shown = new Set([...labels, ...confusion.flatMap(({ truth, predicted }) => [truth, predicted])]);
    const columns = [...shown].sort((a, b) => a - b);
    const count = (truth: number, predicted: number): string =>
      whole(confusion.find((each) => each.truth === truth && each.predicted === predicted)?.count ?? 0);
    const rows = columns
      .filter((label) => label >= 0)
      .map((truth) => [name(truth), ...columns.map((label) => count(truth, label))]);
    const caption = "True labels (rows) and first labels (columns)";
    return table("confusions", caption, ["True", ...columns.map(name)], rows);
  };
  const most = (): Html => {
    const wrong = confusion.filter(({ truth, predicted }) => truth !== predicted).slice(0, MOST_PAIRS);
    return table(
      "confusions",
      "The most frequent confusions",
      ["True label", "First label", "Rows"],
      wrong.map(({ truth, predicted, count }) => [name(truth), name(predicted), whole(count)]),
      (column) => column === 2,
    );
  };
  return section("confusion", "Which labels are confused", intro, labels.length <= MOST_CONFUSED ? all() : most());
}

const TEXT_LETTERS = 500;
const MISSED = 12;

function samples(schema: ModelSchema, { samples: list, file }: Measured): Html {
  return section(
    "samples",
    "Sample predictions",
    paragraph`Rows of ${file}, evenly picked, with their five most probable labels. A tick marks the true ones.`,
    list.map((sample) => oneSample(schema, sample)),
  );
}

function oneSample(schema: ModelSchema, { title, text, predicted, missed }: Sample): Html {
  const rows = predicted.map(({ label, probability, right }) => {
    const mark = right
      ? html`<span class="tick" aria-hidden="true">✓</span><span class="spoken">true: </span>`
      : html`<span class="tick" aria-hidden="true"></span><span class="spoken">not true: </span>`;
    return html`<li${right ? html` class="right"` : undefined}>${mark}<span class="label">${labelName(schema, label)}</span><meter min="0" max="1" value="${probability.toFixed(4)}" aria-hidden="true"></meter><span class="number">${tight(percent(probability))}</span></li>
`;
  });
  const more = missed.length > MISSED ? ` and ${missed.length - MISSED} more` : "";
  const rest = missed.slice(0, MISSED).map((label) => labelName(schema, label));
  return html`<article class="sample"><h3>${shorten(title, 120)}</h3>
<p>${shorten(text, TEXT_LETTERS)}</p>
<ol>${rows}</ol>
${missed.length > 0 ? html`<p class="missed">Also true: ${rest.join(", ")}${more}</p>` : undefined}</article>
`;
}
