// Models with made-up parameters, to predict with.

import type { Model } from "../../src/model/model.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { randomNumbers } from "./numbers.ts";

export interface ModelForm {
  kernel: SvgpPart["kernel"];
  groups: "shared" | "perFactor";
  mean?: SvgpPart["mean"];
  precision?: "f32" | "f64";
}

export const modelSizes = { features: 8, labels: 7, factors: 3, inducing: 5 } as const;

/** A model of one part of family svgp. */
export type RandomModel = Model & { readonly parts: readonly [SvgpPart] };

export function randomModel(
  { kernel, groups: form, mean = "inducing", precision = "f64" }: ModelForm,
  seed = 1,
): RandomModel {
  const { features: d, labels: k, factors: p, inducing: m } = modelSizes;
  const groups = form === "shared" ? 1 : p;
  const numbers = (count: number, of: number): Float32Array | Float64Array => {
    const values = randomNumbers(count, seed + of);
    return precision === "f64" ? values : Float32Array.from(values);
  };
  return {
    schema: {
      features: d,
      labels: k,
      points: 20,
      transform: { normalise: false },
      labelCounts: Int32Array.from({ length: k }, (_, i) => i),
    },
    parts: [
      {
        family: "svgp",
        kernel,
        posterior: form,
        mean,
        factors: p,
        inducingPoints: m,
        inducingInputs: numbers(d * m, 10),
        mu: numbers((mean === "features" ? d : m) * p, 20),
        sigma: numbers(groups * m, 30).map((value) => 0.6 + value / 2),
        phi: numbers(k * p, 40).map((value) => 2 * value),
        bias: numbers(k, 50),
        hyper: numbers(3, 60),
      },
    ],
    summary: {
      options: { kernel },
      droppedPoints: 0,
      steps: 10,
      epochs: 5,
      dataTerm: -3,
      divergence: 2,
      raisedFactorisations: 0,
    },
  };
}
