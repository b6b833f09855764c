// Latent functions at the edge: from a row of features to their means and their variance, decoded row by row from the file's bytes,
// then to the labels. Sums run over features in rising order, in double precision: the same bits everywhere.

import { kernelFrom } from "../../base/kernels.ts";
import type { Fields } from "../../base/tensors.ts";
import type { VarianceForm } from "../compact.ts";
import type { OpenLayer, Row, RowMatrix, RowReader, RowScorer, RowSizes } from "../row.ts";

/** Latent functions at a point: means h [P]; variance s [G], empty where it is not known. */
interface LatentPoint {
  readonly mean: Float64Array;
  readonly variance: Float64Array;
}

const FORMS: readonly VarianceForm[] = ["exact", "low-rank", "diagonal", "none"];

export function svgpRow(
  reader: RowReader,
  about: Fields,
  { features, labels }: RowSizes,
  openLayer: OpenLayer,
): RowScorer {
  const kernel = kernelFrom(reader, about);
  const variance = reader.word(about, "variance", FORMS);
  const rows = reader.integer(about, "rows", 1);
  const factors = reader.integer(about, "factors", 1);
  const groups = reader.integer(about, "groups", 1);
  const m = reader.integer(about, "inducing");
  const rank = reader.integer(about, "rank");

  // Means go through the features where the kernel is linear, else through the inducing inputs; so does the variance, but one for
  // each factor always goes through inducing inputs. Sizes are 0 just where there is no matrix that has them, so that every size is
  // one of bytes which are there.
  const none = variance === "none";
  const throughFeatures = !none && kernel.linear && groups === 1;
  const throughInducing = !none && !throughFeatures;
  const inducing = throughInducing || !kernel.linear;
  const expected = `those of kernel ${kernel.name} with variance ${variance}`;
  if (groups !== 1 && (groups !== factors || none)) reader.refuse(`${groups} groups`, expected);
  if (inducing !== m > 0) reader.refuse(`${m} inducing inputs`, expected);
  if (rank > 0 ? none || variance === "diagonal" : throughInducing) reader.refuse(`rank ${rank}`, expected);

  const layer = openLayer(reader, labels, factors);
  const rowOf = rowsOfFeatures(reader, features, rows);
  const weights = kernel.linear ? reader.matrix("weights", rows, factors) : undefined;
  const mu = kernel.linear ? undefined : reader.matrix("mu", m, factors);
  const z = inducing ? reader.matrix("inducing", rows, m) : undefined;
  const zSquares = inducing ? reader.squares("inducingSquares", m) : undefined;
  const diag = throughFeatures ? reader.matrix("diag", features, 1) : undefined;
  const lowRank = diag && rank > 0 ? reader.matrix("lowRank", rows, rank) : undefined;
  const cholInverse = throughInducing ? reader.matrix("cholInverse", groups * m, rank) : undefined;
  const spread =
    !none && groups === 1 ? reader.within("spread", reader.vector("spread", labels), 0, Number.MAX_VALUE) : undefined;

  // k(x,Z), and what the matrix of the variance gives.
  const kernelRow = new Float64Array(z ? m : 0);
  const explained = new Float64Array(lowRank || cholInverse ? rank : 0);
  const places = Int32Array.from({ length: cholInverse ? groups * m : kernelRow.length }, (_, i) => i);

  /** out = x matrix; features without a row add nothing. */
  function rowTimes({ columns, values }: Row, matrix: RowMatrix, out: Float64Array): void {
    out.fill(0);
    if (!rowOf) {
      matrix.add(columns, values, columns.length, out);
      return;
    }
    const kept: number[] = [];
    const factor: number[] = [];
    for (let e = 0; e < columns.length; e++) {
      const row = rowOf[columns[e]];
      if (row < 0) continue;
      kept.push(row);
      factor.push(values[e]);
    }
    matrix.add(kept, factor, kept.length, out);
  }

  function latent(x: Row): LatentPoint {
    const mean = new Float64Array(factors);
    const s = new Float64Array(none ? 0 : groups);
    const square = squareSum(x.values);
    if (z && zSquares) {
      rowTimes(x, z, kernelRow);
      for (let j = 0; j < m; j++) kernelRow[j] = kernel.covariance(kernelRow[j], square, zSquares[j]);
    }
    if (weights) rowTimes(x, weights, mean);
    else mu?.add(places, kernelRow, m, mean);
    if (diag) {
      // s = sum_j diag_j x_j^2 - |x lowRank|^2
      const squares = Float64Array.from(x.values, (value) => value * value);
      diag.add(x.columns, squares, squares.length, s);
      if (lowRank) {
        rowTimes(x, lowRank, explained);
        s[0] -= squareSum(explained);
      }
    }
    for (let group = 0; cholInverse && group < groups; group++) {
      // s_g = k(x,x) - |k(x,Z) cholInverse_g|^2
      cholInverse.add(places.subarray(group * m), kernelRow, m, explained.fill(0));
      s[group] = kernel.own(square) - squareSum(explained);
    }
    // Rounding, or numbers of few bits, can take a variance below 0.
    return { mean, variance: s.map((value) => (value > 0 ? value : 0)) };
  }

  /** Variance of the utility of a label: |phi_k|^2 s, or sum_p phi_kp^2 s_p where every factor has a variance of its own. */
  function utilityVariance(s: Float64Array, label: number): number {
    if (s.length === 0) return 0;
    if (spread) return s[0] * spread[label];
    const own = labelWeights(label);
    let sum = 0;
    for (let p = 0; p < factors; p++) sum += own[p] * own[p] * s[p];
    return sum;
  }

  function labelWeights(label: number): Float64Array {
    const own = new Float64Array(factors);
    layer.phi.add([label], [1], 1, own);
    return own;
  }

  return {
    score: "utility",
    sigmoid: true,
    deviates: !none,
    info: { kernel: kernel.name, factors, variance },
    scores(given) {
      const points = given.map(latent);
      const utilities = layer.utilities(points.map(({ mean }) => mean));
      return points.map(({ variance: s }, i) => ({
        values: utilities[i],
        variance: (label) => utilityVariance(s, label),
      }));
    },
    linear: kernel.linear,
    scoresOf(row, of) {
      const { mean } = latent(row);
      return Float64Array.from(of, (label) => {
        const own = labelWeights(label);
        let product = 0;
        for (let p = 0; p < factors; p++) product += own[p] * mean[p];
        return product;
      });
    },
  };
}

/** The row of each feature, -1 for none; undefined where each has its own. */
function rowsOfFeatures(reader: RowReader, features: number, rows: number): Int32Array | undefined {
  if (!reader.has("rows")) {
    if (rows !== features) reader.refuse(`${rows} rows for ${features} features`, "which features have rows");
    return undefined;
  }
  return reader.within("rows", reader.tensor("rows", ["I32"], [features]).data, -1, rows - 1);
}

function squareSum(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * values[i];
  return sum;
}
