// What `auto` chooses, at sizes of known data sets; only the sizes are theirs.

import { expect, test } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { chosenLikelihood } from "../../src/train/choose.ts";

/** Data that look as if they had so many points, labels and entries a row; every feature occurs ten times. */
function sized(
  points: number,
  features: number,
  labels: number,
  each = 75,
): Pick<Dataset, "features" | "labels"> {
  const columnIndex = Int32Array.from({ length: 10 * features }, (_, e) => e % features);
  const values = { length: each * points } as Float32Array;
  return {
    features: { rows: points, columns: features, rowStart: new Int32Array(points + 1), columnIndex, values },
    labels: {
      rows: points,
      labels,
      rowStart: new Int32Array(points + 1),
      labelIndex: new Int32Array(0),
    },
  };
}

test.each([
  ["Bibtex", sized(4880, 1836, 159), "gaussian"],
  ["EUR-Lex", sized(15_539, 5000, 3993), "gaussian"],
  ["RCV1", sized(623_847, 47_236, 2456), "both"],
  ["AmazonCat", sized(1_186_239, 203_882, 13_330), "both"],
  ["Amazon-670K", sized(490_449, 135_909, 670_091), "bernoulli"],
  ["debtags", sized(23_902, 40_000, 516), "gaussian"],
  ["WordNet", sized(59_201, 25_108, 2053, 14), "bernoulli"],
  ["wide labels", sized(100_000, 16_000, 30_000), "bernoulli"],
] as const)("%s", (_, data, likelihood) => {
  expect(chosenLikelihood({ likelihood: "auto" }, data)?.options.likelihood).toBe(likelihood);
});

test("without the closed form probabilities are still made honest, unless that is refused", () => {
  const data = sized(490_449, 20_000, 670_091);
  const chosen = chosenLikelihood({ likelihood: "auto" }, data);
  expect(chosen?.options).toEqual({ likelihood: "bernoulli", calibration: true });
  expect(chosen?.reason).toMatch(
    /^likelihood bernoulli: the linear closed form of 16000 features and 670091 labels would take 4\d\.\d GB and \d\.\de\+14 operations$/,
  );
  const refused = chosenLikelihood({ likelihood: "auto", calibration: false }, data);
  expect(refused?.options.calibration).toBe(false);
});

test("what was chosen by hand stays", () => {
  expect(chosenLikelihood({ likelihood: "both" }, sized(100, 10, 3))).toBeUndefined();
});

test("without a likelihood it is auto; what only the bernoulli one has chooses it", () => {
  const small = sized(4880, 1836, 159);
  expect(chosenLikelihood({}, small)?.options).toEqual({ likelihood: "gaussian" });
  expect(chosenLikelihood({ seed: 3, kernel: "se" }, small)?.options.likelihood).toBe("gaussian");
  expect(chosenLikelihood({ factors: 30 }, small)).toEqual({
    options: { likelihood: "bernoulli", calibration: true },
    reason: "likelihood bernoulli: factors is about latent functions, which only it has",
  });
  expect(chosenLikelihood({ calibration: false }, small)?.options).toEqual({
    likelihood: "bernoulli",
    calibration: false,
  });
  expect(chosenLikelihood({ factors: 30 }, sized(30_000, 30_000, 516))?.options.likelihood).toBe("both");
});
