// `npm run pictures`: docs/images/reliability.svg, the reliability of the default model on WordNet definitions that it has not seen.
// `npm run pictures -- --check` trains again, writes nothing and fails where the picture is not what the model and the drawing give now.

import { readFileSync, writeFileSync } from "node:fs";
import { sampleLines } from "../site/tools/sample.ts";
import { evaluate, train } from "../src/index.ts";
import { reliabilityDrawing } from "../src/report/drawings.ts";

export const PICTURE = "docs/images/reliability.svg";
/** Definitions that are trained on; the others are measured on. */
const TRAINED = 4000;

/** Colours of the report, without its page. */
const STYLE = `svg{font:12px system-ui,sans-serif;fill:#4d5866}
.ground{fill:#fff}.grid{stroke:#dfe3e8}.ideal{fill:none;stroke:#4d5866;stroke-dasharray:4 4}
.interval{stroke:#0b5cad}.dot{fill:#0b5cad}.told{fill:#1c2430}
@media(prefers-color-scheme:dark){svg{fill:#aab4c0}.ground{fill:#14181d}.grid{stroke:#333b46}.ideal{stroke:#aab4c0}
.interval{stroke:#6fb3ff}.dot{fill:#6fb3ff}.told{fill:#e6e9ee}}`;

/** The picture as the code of today draws it. */
export async function drawPicture(): Promise<string> {
  const lines = sampleLines();
  const file = (part: string[]): Blob => new Blob([part.join("\n")]);
  const model = await train(file(lines.slice(0, TRAINED)));
  const { ranking, calibration } = await evaluate(model, file(lines.slice(TRAINED)), { calibration: true });
  if (calibration === undefined) throw new Error("found no calibration, expected it");
  const { ece, groups } = calibration.top5;
  const said = [`ECE@5 ${(100 * ece).toFixed(1)} percentage points`, `P@1 ${ranking.metrics["P@1"].toFixed(1)} %`];
  const drawing = reliabilityDrawing("the top 5 labels of each text", groups).text;
  const words = said
    .map((text, i) => `<text class="told" x="336" y="${256 + 18 * i}" text-anchor="end">${text}</text>`)
    .join("");
  return `${drawing
    .replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" width="432" height="414" ')
    .replace(">", `><style>${STYLE}</style><rect class="ground" width="100%" height="100%"/>`)
    .replace(" The numbers are in the table below.", "")
    .replace(/<\/svg>$/, `${words}</svg>`)}\n`;
}

if (process.argv[1] !== undefined && /pictures/.test(process.argv[1])) {
  const drawn = await drawPicture();
  if (!process.argv.includes("--check")) writeFileSync(PICTURE, drawn);
  else if (drawn !== readFileSync(PICTURE, "utf8")) {
    console.error(
      `${PICTURE}: found another picture than today's model and drawing give, expected the same: npm run pictures`,
    );
    process.exit(1);
  }
  process.exit(0);
}
