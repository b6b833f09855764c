// The partition of the labels among ranks. All labels are cut into blocks of a width that depends on their number alone; a rank
// owns blocks that follow one another.

import type { Communicator } from "./communicator.ts";

/** At most so many blocks, of at least so many labels each. */
const BLOCKS = 64;
const LEAST_WIDTH = 16;

export interface Range {
  from: number;
  to: number;
}

export interface LabelPartition {
  readonly ranks: Communicator;
  readonly labels: number;
  /** Labels in each block but the last. */
  readonly width: number;
  /** Blocks and labels of each rank, and the labels of this one. */
  readonly blocks: readonly Range[];
  readonly ranges: readonly Range[];
  readonly own: Range;
}

/** The most processes that can have labels of their own. */
export const mostRanks = (labels: number): number => Math.ceil(labels / widthOf(labels));

const widthOf = (labels: number): number => Math.max(LEAST_WIDTH, Math.ceil(labels / BLOCKS));

export function labelPartition(ranks: Communicator, labels: number): LabelPartition {
  const width = widthOf(labels);
  const count = mostRanks(labels);
  if (ranks.size > count)
    throw new Error(
      `found ${ranks.size} ranks for ${labels} labels, expected at most ${count}: each owns a block of ${width} labels or more`,
    );
  const first = (rank: number): number => Math.floor((rank * count) / ranks.size);
  const blocks = Array.from({ length: ranks.size }, (_, r) => ({ from: first(r), to: first(r + 1) }));
  const label = (block: number): number => Math.min(labels, block * width);
  const ranges = blocks.map(({ from, to }) => ({ from: label(from), to: label(to) }));
  return { ranks, labels, width, blocks, ranges, own: ranges[ranks.rank] };
}
