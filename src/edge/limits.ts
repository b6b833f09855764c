// How large the numbers of a compact model may be, so that no sum over them ever overflows: a model that loads gives no NaN
// for a finite input.
//
// Double precision ends at 1.8e308. A row has at most 2^31 values of at most 3.4e38, hyper-parameters lie below 1e36, and
// with numbers up to 1e18 the largest there is, |k(x,Z) root|^2, stays below 1e270. The label layer goes on in single
// precision, which ends at 3.4e38: means up to 1e30 times a label's weights of at most 1e7 together, rounding included.

/** Of any number in the file but those named below. */
export const LARGEST_NUMBER = 1e18;
/** Of a squared length. */
export const LARGEST_SQUARE = 1e36;
/** Of the magnitudes of a label's weights added up, where they are multiplied in single precision. */
export const LARGEST_ROW = 1e7;
/** Of a latent mean: far beyond where any probability is 0 or 1. */
export const LARGEST_MEAN = 1e30;
