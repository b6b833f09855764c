// What runs inside a report: plots that answer the pointer, in place of the drawings that are there for paper.

import { linePlot } from "../plots/lines.ts";
import type { LivePlot } from "./plots.ts";

const plots: LivePlot[] = JSON.parse(document.getElementById("plots")?.textContent ?? "[]");
for (const { id, x, y, lines, description, dots } of plots) {
  const figure = document.querySelector(`figure[data-plot="${id}"]`);
  const target = figure?.querySelector<HTMLElement>(".live");
  if (!figure || !target) continue;
  figure.classList.add("alive");
  const plot = linePlot(target, {
    x: { label: x.name },
    y: { ...y, label: y.name },
    series: lines.map(({ name }) => name),
    description,
    dots,
  });
  plot.set(
    x.values,
    lines.map(({ values }) => values),
  );
}

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
