// Single labels: the ones done best and worst, their groups in the factors, and predictions to look at.

import type { LabelFigures } from "../../metrics/perlabel.ts";
import { type Html, html, shorten } from "../html.ts";
import type { Measured, ReportInput, ReportModel, Sample } from "../input.ts";
import { mapDrawing } from "../svg/map.ts";
import { breakable, columnsOf, labelName, percent, section, table, whole } from "../text.ts";

const SHOWN = 12;
/** Labels with few occurrences are done well or badly by chance: the most of these that leaves enough labels. */
const OCCURRENCES = [20, 10, 5, 2];
const TEXT_LETTERS = 500;
const MISSED = 12;

export function bestAndWorst(model: ReportModel, { perLabel: all, file }: Measured): Html {
  const perLabel = all.filter(({ positives }) => positives > 0);
  const withAtLeast = (least: number): LabelFigures[] =>
    perLabel.filter(({ positives }) => positives >= least);
  const least = OCCURRENCES.find((count) => withAtLeast(count).length >= 2 * SHOWN) ?? 1;
  const enough = withAtLeast(least);
  const order = [...enough].sort(
    (a, b) => b.averagePrecision - a.averagePrecision || b.positives - a.positives || a.label - b.label,
  );
  const shown = Math.min(SHOWN, Math.floor(order.length / 2));
  const unseen = model.labels - perLabel.length;
  const title = "Labels done best and worst";
  if (shown === 0)
    return section(
      "labels",
      title,
      html`<p>Fewer than two labels occur in ${file}: there is nothing to compare.</p>
`,
    );
  return section(
    "labels",
    title,
    html`<p>By average precision on ${file}, among the ${whole(enough.length)} labels that occur there ${least === 1 ? "at all" : `${least} times or more`}. ${unseen > 0 ? `${whole(unseen)} of the ${whole(model.labels)} labels do not occur there at all. ` : ""}A label done badly often has few training points, or a meaning that the words of a point do not show. Expected there: how many points the model thought would have it, the sum of its probabilities.</p>
`,
    labelTable(model, "best", "Done best", order.slice(0, shown)),
    labelTable(model, "worst", "Done worst", order.slice(-shown).reverse()),
  );
}

function labelTable(model: ReportModel, id: string, caption: string, figures: readonly LabelFigures[]): Html {
  return table(
    id,
    caption,
    columnsOf("Label", "Average precision", "Found in first five", "Expected there", "Training points"),
    figures.map(({ label, averagePrecision, found, positives, expected }) => [
      breakable(labelName(model, label)),
      percent(averagePrecision),
      `${whole(found)} of ${whole(positives)}`,
      whole(expected),
      whole(model.labelCounts[label] as number),
    ]),
  );
}

export function groups({ model, groups: found }: ReportInput): Html | undefined {
  if (found === undefined) return undefined;
  const { neighbours, map, factors } = found;
  const dots = Array.from(map.labels, (label, i) => ({
    name: labelName(model, label),
    count: model.labelCounts[label] as number,
    x: map.x[i] as number,
    y: map.y[i] as number,
  }));
  const part =
    map.labels.length < model.labels ? `the ${whole(map.labels.length)} most frequent labels` : "all labels";
  return section(
    "groups",
    "How labels group",
    html`<p>Labels share ${whole(factors)} hidden functions, the factors. Two labels that weigh the factors alike rise and fall together. The cosine says how alike: 1 is the same direction, 0 is nothing in common, −1 is opposite.</p>
`,
    table(
      "neighbours",
      "The most frequent labels and those nearest to them, with the cosine",
      [{ head: "Label" }, { head: "Nearest labels" }],
      neighbours.map(({ label, near }) => [
        breakable(labelName(model, label)),
        near.map(
          (other, i) =>
            html`${i > 0 ? ", " : ""}<span class="near">${breakable(labelName(model, other.label))} <small>${other.cosine.toFixed(2)}</small></span>`,
        ),
      ]),
    ),
    html`<figure>${mapDrawing(dots)}
<figcaption>Map of ${part}: the plane in which their directions are spread most. It shows ${percent(map.shown, 0)} of the spread, so labels far apart here differ, while neighbours may still differ in what the plane leaves out. Larger dots are more frequent labels; the name of a dot appears when the pointer rests on it.</figcaption></figure>
`,
  );
}

export function samples(model: ReportModel, { samples: list, file }: Measured): Html {
  return section(
    "samples",
    "Sample predictions",
    html`<p>Points of ${file}, evenly picked, with their five most probable labels. A tick marks the true ones.</p>
`,
    list.map((sample) => oneSample(model, sample)),
  );
}

function oneSample(model: ReportModel, { title, text, predicted, missed }: Sample): Html {
  const rows = predicted.map(({ label, probability, right }) => {
    const mark = right
      ? html`<span class="tick" aria-hidden="true">✓</span><span class="spoken">true: </span>`
      : html`<span class="tick" aria-hidden="true"></span><span class="spoken">not true: </span>`;
    return html`<li${right ? html` class="right"` : undefined}>${mark}<span class="label">${labelName(model, label)}</span><meter min="0" max="1" value="${probability.toFixed(4)}" aria-hidden="true"></meter><span class="number">${percent(probability)}</span></li>
`;
  });
  const more = missed.length > MISSED ? ` and ${missed.length - MISSED} more` : "";
  const rest = missed.slice(0, MISSED).map((label) => labelName(model, label));
  return html`<article class="sample"><h3>${shorten(title, 120)}</h3>
<p>${shorten(text, TEXT_LETTERS)}</p>
<ol>${rows}</ol>
${missed.length > 0 ? html`<p class="missed">Also true: ${rest.join(", ")}${more}</p>` : undefined}</article>
`;
}
