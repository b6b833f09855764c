// An error that nobody catches is short, and names the functions it went through: the built files are not minified.

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

test("an uncaught error of the built package prints a page and not a bundle", () => {
  const program = `import { train } from ${JSON.stringify(pathToFileURL(resolve("dist/index.js")).href)};
    await train({ features: {}, labels: {} }, { epoch: 1 });`;
  const { stderr, status } = spawnSync("node", ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("ArgumentError: epoch: there is no such option, did you mean epochs?");
  expect(stderr).toMatch(/at train \(/);
  expect(stderr.length).toBeLessThan(2500);
});
