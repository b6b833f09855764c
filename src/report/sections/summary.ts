// The first screen: what this is and how good it is, in a few sentences and figures.

import { type Html, html } from "../html.ts";
import type { Measured, ReportInput } from "../input.ts";
import { duration, fileSize, percent, whole } from "../text.ts";

export function summary(input: ReportInput): Html {
  const { model, measured, run, title } = input;
  const time = run.seconds === undefined ? "" : ` in ${duration(run.seconds)}`;
  return html`<header>
<p class="kind">mlgpf report</p>
<h1>${title}</h1>
<p class="lead">A model of ${whole(model.labels)} labels, trained on ${whole(input.summary.points)} points${time}. ${measured ? verdict(measured) : undefined}</p>
<dl class="cards">${cards(input).map(
    ([
      name,
      value,
      meaning,
    ]) => html`<div><dt>${name}</dt><dd class="figure">${value}</dd><dd>${meaning}</dd></div>
`,
  )}</dl>
${measured ? (measured.expectation.beyondChance ? surprise(measured) : undefined) : howToMeasure()}</header>
`;
}

/** Said where nothing was measured. */
export function howToMeasure(): Html {
  return html`<p class="note" id="unmeasured">How good the model is was not measured. Give it points with known labels that it was not trained on: <code>mlgpf train FILE --out MODEL --valid FILE --report FILE</code>, or for a model you have <code>mlgpf eval MODEL FILE --report FILE</code>.</p>
`;
}

function verdict({ ranking, expectation, file }: Measured): Html {
  const { expected, came } = expectation;
  return html`On ${whole(ranking.points)} points of ${file} the label it ranked first was right ${percent(came)} of the time; it expected ${percent(expected)}.`;
}

/** Said where what came is not what the model expected. */
function surprise({ expectation: { expected, came } }: Measured): Html {
  const [more, less] = came > expected ? ["more", "careful"] : ["fewer", "sure"];
  return html`<p class="note" id="surprise">Clearly ${more} first labels were right than the model expected: ${percent(came)} instead of ${percent(expected)}. Chance alone does this less than once in a hundred times (Bernstein's inequality). Either these points differ from those of the training, or the model is too ${less}.</p>
`;
}

function cards({ model, measured, run, history }: ReportInput): [string, string, string][] {
  const list: [string, string, string][] = [];
  if (measured) {
    const inPercent = (name: string): string => percent((measured.ranking.metrics[name] as number) / 100);
    list.push(
      ["P@1", inPercent("P@1"), "of first-ranked labels are right"],
      ["P@5", inPercent("P@5"), "of the first five labels are right"],
      ["R@5", inPercent("R@5"), "of the true labels are among the first five"],
      [
        "Calibration",
        percent(measured.calibration.bestFive.ece, 2),
        "error of the first five labels' probabilities",
      ],
      ["Log loss", measured.calibration.logLoss.toFixed(2), "nats a point; less is better"],
    );
  }
  if (run.seconds !== undefined) list.push(["Time", duration(run.seconds), "of training"]);
  if (history) list.push(["Speed", whole(history.pointsPerSecond), "points a second"]);
  list.push(["Model", fileSize(model.bytes), "on disk"], ["Labels", whole(model.labels), "known to it"]);
  return list;
}
