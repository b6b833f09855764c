// Streams of the random numbers that a seed gives, one for each use. A change of a number changes trained models. (Normal numbers,
// uniform ones and whole ones of the same stream have nothing to do with each other.)

export const STREAMS = {
  /** The first block of a subspace iteration, and what fills a block up that has not the full rank. */
  subspaceStart: 0,
  subspaceNoise: 1,
  /** Rows that k-means++ looks at, and which of them it picks. */
  kmeansRows: 1,
  kmeansPicks: 2,
  /** Order of the rows in an exact fit: those with leave-one-out scores may be the last ones, and are a fair sample. */
  exactOrder: 77,
  /** Start of the weights of labels and of the mean. */
  phi: 101,
  mu: 102,
  /** Rows that stand for all where there are very many. */
  sample: 103,
  /** Order of the rows in an epoch: plus the epoch. */
  epochOrder: 1000,
  /** Labels whose gradients are computed: plus twice the step. */
  gradientLabels: 0x6000_0001,
  /** Absent labels of a row in a step: plus the number of rows before it. */
  negatives: 0x8000_0000,
} as const;
