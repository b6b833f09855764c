// The report: one HTML file that needs nothing else. The same input gives the same text.

import { script, scriptDigest, style } from "../generated/report.ts";
import { themeStyle } from "../plots/theme.ts";
import { Html, html, scriptJson } from "./html.ts";
import type { ReportInput } from "./input.ts";
import { cut, thresholdPlot } from "./sections/cut.ts";
import { honesty } from "./sections/honesty.ts";
import { bestAndWorst, groups, samples } from "./sections/labels.ts";
import { frequencies, rankings } from "./sections/quality.ts";
import { summary } from "./sections/summary.ts";
import { course, livePlots, setup } from "./sections/training.ts";

/** Nothing is loaded from anywhere, and no script runs but the one that was built with this program. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptDigest}'; base-uri 'none'; form-action 'none'`;

export function htmlReport(input: ReportInput): string {
  const { measured, model, history } = input;
  const courseOf = history ? livePlots(history) : [];
  const threshold = measured && thresholdPlot(measured);
  const sections = [
    ...(measured && threshold
      ? [
          rankings(measured),
          honesty(measured),
          cut(measured, threshold),
          frequencies(input),
          bestAndWorst(model, measured),
        ]
      : []),
    groups(input),
    measured && samples(model, measured),
    course(input, courseOf),
    setup(input),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${input.title}: mlgpf report</title>
<style>${new Html(themeStyle + style)}</style>
</head>
<body>
<main>
${summary(input)}${sections}</main>
<script type="application/json" id="plots">${scriptJson([...(threshold ? [threshold] : []), ...courseOf])}</script>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}
