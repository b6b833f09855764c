// The functions of a score that calibrators are made of, by name: apart from the kernels that compute them, so that the edge
// can know them without the core.

/**
 * Rising functions of x = score - centre: x; a soft positive part of x, its corner of this width; the log of that; and these
 * two turned about the centre, one that levels off there and one that climbs towards it.
 */
export type TermShape = "linear" | "hinge" | "log" | "cap" | "limit";

/** One function of one score. */
export interface ScoreTerm {
  /** Which of the scores. */
  readonly score: number;
  readonly shape: TermShape;
  readonly centre: number;
  /** Above 0; a linear term has none and says 0. */
  readonly width: number;
}

/** In the order of the kernel. */
export const TERM_SHAPES: readonly TermShape[] = ["linear", "hinge", "log", "cap", "limit"];
