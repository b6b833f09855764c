// Errors of the core in the words of a training: what its user can change.

import { NotFiniteError } from "../core/errors.ts";
import { NotPositiveError } from "../core/inverse.ts";
import { type FullTrainOptions, trainOptions } from "./options.ts";

/** The error as it is, unless it is about a matrix that the user has never seen. */
export function explained(error: unknown, { normalise, likelihood }: FullTrainOptions): unknown {
  const found = faultOf(error);
  if (found === undefined) return error;
  const remedies = normalise
    ? ["another `kernel`", ...(likelihood === "gaussian" ? [] : ["a lower `learningRate`"])]
    : ["`normalise` the rows", "scale the features"];
  return new Error(`found ${found}, expected features of a moderate size: ${remedies.join(" or ")}`, {
    cause: error,
  });
}

function faultOf(error: unknown): string | undefined {
  if (error instanceof NotPositiveError) return "a covariance of the points that is not positive definite";
  if (!(error instanceof NotFiniteError) || error.argument in trainOptions) return undefined;
  return "NaN or Infinity in what was computed from the features";
}
