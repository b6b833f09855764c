// Plots of lines: drawn for paper and for pages without scripts, and drawn anew by the script on a screen.

import { type Html, html } from "./html.ts";
import { type LinesInput, linesDrawing } from "./svg/lines.ts";

/** A plot that the script draws anew on a screen; on paper the drawing stays. */
export interface LivePlot extends LinesInput {
  id: string;
  caption: string;
  dots: boolean;
}

/** The drawing, and room for the script's. */
export function plotFigure(plot: LivePlot): Html {
  return html`<figure data-plot="${plot.id}"><div class="drawn">${linesDrawing(plot)}</div><div class="live"></div>
<figcaption>${plot.caption}</figcaption></figure>
`;
}
