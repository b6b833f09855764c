// How honest the probabilities are where people act on them.

import type { Reliability } from "../../metrics/reliability.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import type { Measured } from "../input.ts";
import { reliabilityDrawing } from "../svg/reliability.ts";
import { columnsOf, percent, section, signedPoints, table, whole } from "../text.ts";

/** The predictions looked at: their key in the calibration, and their name. */
const KINDS = [
  ["bestFive", "the best five labels of each point"],
  ["overFivePercent", "all predictions of at least 5 %"],
] as const;

export function honesty({ calibration }: Measured): Html {
  const { logLoss, brier, allPairs, unknownLabels } = calibration;
  const plots = KINDS.map(
    ([key, name]) => html`<figure>${reliabilityDrawing(name, calibration[key].groups)}
<figcaption>${capital(name)}: ${plotCaption(calibration[key])}</figcaption></figure>
`,
  );
  return section(
    "honesty",
    "How honest the probabilities are",
    html`<p>Of all labels that were said to have a probability of 70 %, about 70 % should be true. The plots sort predictions by their probability and cut them into groups of equal size. A dot on the dashed line is honest; above it the model was too careful, below it too sure. The bar through a dot is its 95 % interval (Wilson): a bar that meets the line may be off by chance alone.</p>
<div class="pair">${plots}</div>
`,
    table(
      "calibration",
      "Said and come true; bias and error in percent points, best at zero",
      columnsOf("Predictions", "Number", "Said", "Came true", "Bias", "Error"),
      KINDS.map(([key, name]) => [capital(name), ...reliabilityCells(calibration[key])]),
    ),
    html`<p>Bias is what was said less what came true, over all of them. The error is the mean distance of the two within the groups, so that errors up and down do not cancel.</p>
`,
    table("proper", "Honest and sharp in one number, a point; less is better", columnsOf("Figure", "Value"), [
      [
        html`Log loss<small>−ln of the probability given to what happened, summed over the labels of a point</small>`,
        logLoss.toFixed(4),
      ],
      [
        html`Brier score<small>squared distance of probability and truth, summed over the labels of a point</small>`,
        brier.toFixed(4),
      ],
    ]),
    KINDS.map(([key, name]) => groupTable(key, name, calibration[key])),
    html`<p><small>The mean over all ${whole(allPairs.predictions)} pairs of a point and a label has a calibration error of ${(100 * allPairs.ece).toFixed(4)} percent points. Nearly all pairs are absences of which any model is certain, so this says little about the labels that matter.${unknownLabels > 0 ? ` ${whole(unknownLabels)} true labels are unknown to the model and in no figure of this section.` : ""}</small></p>
`,
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function plotCaption({ predictions, groups }: Reliability): string {
  if (predictions === 0) return "there are none.";
  const [most, least] = [groups[0]?.count as number, groups.at(-1)?.count as number];
  const each = most === least ? whole(most) : `${whole(least)} or ${whole(most)}`;
  return `${whole(predictions)} predictions, ${each} behind each dot.`;
}

/** Number, said, came true, bias and error, as every table of calibrations has them. */
export function reliabilityCells({ predictions, said, came, bias, ece }: Reliability): string[] {
  if (predictions === 0) return ["0", "–", "–", "–", "–"];
  return [whole(predictions), percent(said), percent(came), signedPoints(bias), (100 * ece).toFixed(2)];
}

function groupTable(key: string, name: string, { groups }: Reliability): HtmlPart {
  return html`<details><summary>The plot of ${name} as a table</summary>
${table(
  key,
  `${capital(name)} by probability`,
  columnsOf("Probability", "Predictions", "Said", "Came true", "95 % interval"),
  groups.map(({ from, to, count, meanProbability, frequency, low, high }) => [
    `${percent(from)} to ${percent(to)}`,
    whole(count),
    percent(meanProbability),
    percent(frequency),
    `${percent(low)} to ${percent(high)}`,
  ]),
)}</details>
`;
}
