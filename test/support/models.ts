// Models with made-up parameters, to predict with.

import type { ClosedModel, LatentModel } from "../../src/model/model.ts";
import { someCalibrator } from "../calibrate/calibrators.ts";
import { randomNumbers } from "./numbers.ts";

export interface ModelForm {
  kernel: LatentModel["kernel"];
  groups: "shared" | "perFactor";
  mean?: LatentModel["mean"];
  precision?: "f32" | "f64";
}

export interface ClosedForm {
  form: ClosedModel["closed"]["form"];
  kernel?: LatentModel["kernel"];
  stack?: boolean;
  latent?: ModelForm;
}

export const modelSizes = { features: 8, labels: 7, factors: 3, inducing: 5 } as const;

export function randomModel(
  { kernel, groups: form, mean = "inducing", precision = "f64" }: ModelForm,
  seed = 1,
): LatentModel {
  const { features: d, labels: k, factors: p, inducing: m } = modelSizes;
  const groups = form === "shared" ? 1 : p;
  const numbers = (count: number, of: number): Float32Array | Float64Array => {
    const values = randomNumbers(count, seed + of);
    return precision === "f64" ? values : Float32Array.from(values);
  };
  return {
    likelihood: "bernoulli",
    kernel,
    posterior: form,
    mean,
    features: d,
    labels: k,
    factors: p,
    inducingPoints: m,
    inducingInputs: numbers(d * m, 10),
    mu: numbers((mean === "features" ? d : m) * p, 20),
    sigma: numbers(groups * m, 30).map((value) => 0.6 + value / 2),
    phi: numbers(k * p, 40).map((value) => 2 * value),
    bias: numbers(k, 50),
    hyper: numbers(3, 60),
    transform: { normalise: false },
    labelCounts: Int32Array.from({ length: k }, (_, i) => i),
    summary: {
      options: { kernel },
      points: 20,
      droppedPoints: 0,
      steps: 10,
      epochs: 5,
      dataTerm: -3,
      divergence: 2,
      raisedFactorisations: 0,
    },
  };
}

/** A closed model with a calibrator; with `latent` it has latent functions beside it. */
export function randomClosed(
  { form, kernel = "se", stack = true, latent }: ClosedForm,
  seed = 1,
): ClosedModel {
  const { features: d, labels: k } = modelSizes;
  const [points, rank] = [6, 2];
  const numbers = (count: number, of: number): Float32Array =>
    Float32Array.from(randomNumbers(count, seed + of));
  const frame = randomModel({ kernel: "linear", groups: "shared", precision: "f32" });
  const { features, labels, transform, labelCounts, summary } = frame;
  const closed: ClosedModel["closed"] =
    form === "linear"
      ? { form, noise: 0.5, columns: Int32Array.of(0, 2, 3, 7), weights: numbers(4 * k, 1) }
      : {
          form,
          kernel,
          hyper: [1, 1, 0.7],
          noise: 0.2,
          rows: {
            rows: points,
            columns: d,
            rowStart: Int32Array.from({ length: points + 1 }, (_, i) => 2 * i),
            columnIndex: Int32Array.from({ length: 2 * points }, (_, e) =>
              e % 2 === 0 ? e % 4 : 4 + (e % 3),
            ),
            values: numbers(2 * points, 2),
          },
          dual: numbers(points * k, 3),
        };
  const calibrator = someCalibrator(k, seed);
  const scores = ["gaussian", ...(stack ? ["stack"] : []), ...(latent ? ["utility"] : [])];
  const known = (score: number): number => Math.min(score, scores.length - 1);
  const terms = calibrator.curves.terms.map((each) => ({ ...each, score: known(each.score) }));
  return {
    likelihood: latent ? "both" : "gaussian",
    ...{ features, labels, transform, labelCounts, summary },
    closed,
    labelMean: numbers(k, 4),
    ...(stack ? { stack: { rank, vectors: numbers(k * rank, 5), weights: numbers(rank * k, 6) } } : {}),
    ...(latent ? { latent: randomModel({ ...latent, precision: "f32" }, seed) } : {}),
    calibrator: { ...calibrator, scores, curves: { ...calibrator.curves, terms } },
  };
}
