// The README's picture is what the default model and the report's drawing give today: `npm run pictures` makes it.
// @module-tag long

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawPicture, PICTURE } from "../../scripts/pictures.ts";

test("the picture shows the model and the drawing of today", { timeout: 300_000 }, async () => {
  const kept = readFileSync(PICTURE, "utf8");
  expect(kept.match(/<circle class="dot"/g)?.length).toBe(15);
  expect(await drawPicture()).toBe(kept);
});
