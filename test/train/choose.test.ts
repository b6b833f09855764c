// What `auto` chooses, at sizes of known data sets; only the sizes are theirs.

import { expect, test } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { chosenParts } from "../../src/train/choose.ts";

/** Data that look as if they had so many points, labels and entries a row; every feature occurs ten times. */
function sized(points: number, features: number, labels: number, each = 75): Pick<Dataset, "features" | "labels"> {
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
  ["Bibtex", sized(4880, 1836, 159), "gpr"],
  ["EUR-Lex", sized(15_539, 5000, 3993), "gpr"],
  ["RCV1", sized(623_847, 47_236, 2456), "linear+svgp"],
  ["AmazonCat", sized(1_186_239, 203_882, 13_330), "linear+svgp"],
  ["Amazon-670K", sized(490_449, 135_909, 670_091), "svgp"],
  ["debtags", sized(23_902, 40_000, 516), "gpr"],
  ["WordNet", sized(59_201, 25_108, 2053, 14), "svgp"],
  ["wide labels", sized(100_000, 16_000, 30_000), "svgp"],
] as const)("%s", (_, data, model) => {
  expect(chosenParts({ model: "auto" }, data).names.join("+")).toBe(model);
});

test("it says why a linear part would cost too much, and why there is none without calibration", () => {
  const data = sized(490_449, 20_000, 670_091);
  expect(chosenParts({ model: "auto" }, data).reason).toMatch(
    /^Model: sparse variational GP \(SVGP\) \(.*16,?000 features and 670,?091 labels would take 4\d\.\d GB and \d\.\de\+14 operations\)$/,
  );
  expect(chosenParts({ model: "auto", calibration: false }, data)).toEqual({
    names: ["svgp"],
    reason: "Model: sparse variational GP (SVGP) (only its scores are probabilities without calibration)",
  });
});

test("what was chosen by hand stays", () => {
  expect(chosenParts({ model: "linear+svgp" }, sized(100, 10, 3))).toEqual({ names: ["linear", "svgp"] });
});

test("without a model it is auto; what only minibatches have chooses these", () => {
  const small = sized(4880, 1836, 159);
  expect(chosenParts({}, small)).toEqual({
    names: ["gpr"],
    reason: "Model: exact GP regression (4,880 rows are few enough)",
  });
  expect(chosenParts({ seed: 3, kernel: "se" }, small).names).toEqual(["gpr"]);
  expect(chosenParts({ factors: 30 }, small)).toEqual({
    names: ["svgp"],
    reason: "Model: sparse variational GP (SVGP) (factors is about minibatches)",
  });
  expect(chosenParts({ calibration: false }, small).names).toEqual(["svgp"]);
  expect(chosenParts({ factors: 30 }, sized(30_000, 30_000, 516)).names).toEqual(["linear", "svgp"]);
});
