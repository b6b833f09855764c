// Which words speak for a label. For the linear kernel with the mean through the features a label's mean utility is a
// sum over the words d of the text,
//
//     fbar_k = b_k + sum_d x_d (mu[d,:] . Phi[k,:]),
//
// so that each word's share can be read off.

import type { SparseRows } from "../../src/data/index.ts";
import { transformedRows } from "../../src/data/transform.ts";
import { isClosed, type LatentModel, type TrainedModel } from "../../src/model/model.ts";
import type { WordShare } from "./messages.ts";

export const explains = (model: TrainedModel): model is LatentModel =>
  !isClosed(model) && model.kernel === "linear" && model.mean === "features";

/** Shares of the words of the first row, greatest first; `label` is k. */
export function wordShares(
  model: LatentModel,
  features: SparseRows,
  label: number,
  nameOf: (column: number) => string,
): WordShare[] {
  const { rowStart, columnIndex, values } = transformedRows(features, model.transform, 0, features.rows);
  const { factors, mu, phi } = model;
  const shares: WordShare[] = [];
  for (let e = rowStart[0] as number; e < (rowStart[1] as number); e++) {
    const column = columnIndex[e] as number;
    let product = 0;
    for (let p = 0; p < factors; p++)
      product += (mu[column * factors + p] as number) * (phi[label * factors + p] as number);
    shares.push({ word: nameOf(column), share: (values[e] as number) * product });
  }
  return shares.sort((a, b) => b.share - a.share);
}
