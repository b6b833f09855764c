// Which labels are whose. All labels are cut into blocks of a width that depends on their number alone; a rank owns blocks
// that follow one another.

import type { Communicator } from "./communicator.ts";

/** At most so many blocks, of at least so many labels each. */
const BLOCKS = 64;
const LEAST_WIDTH = 16;

export interface Range {
  from: number;
  to: number;
}

export interface LabelShare {
  readonly ranks: Communicator;
  /** Labels in all. */
  readonly labels: number;
  /** Labels in each block but the last. */
  readonly width: number;
  /** The blocks of each rank. */
  readonly blocks: readonly Range[];
  /** The labels of each rank. */
  readonly ranges: readonly Range[];
  /** The labels of this one. */
  readonly own: Range;
}

/** How many processes can have labels of their own. */
export const mostRanks = (labels: number): number => Math.ceil(labels / widthOf(labels));

const widthOf = (labels: number): number => Math.max(LEAST_WIDTH, Math.ceil(labels / BLOCKS));

export function shareOf(ranks: Communicator, labels: number): LabelShare {
  const width = widthOf(labels);
  const count = mostRanks(labels);
  if (ranks.size > count)
    throw new Error(
      `found ${ranks.size} ranks for ${labels} labels, expected at most ${count}: each owns a block of ${width} labels or more`,
    );
  const first = (rank: number): number => Math.floor((rank * count) / ranks.size);
  const blocks = Array.from({ length: ranks.size }, (_, rank) => ({
    from: first(rank),
    to: first(rank + 1),
  }));
  const label = (block: number): number => Math.min(labels, block * width);
  const ranges = blocks.map(({ from, to }) => ({ from: label(from), to: label(to) }));
  return { ranks, labels, width, blocks, ranges, own: ranges[ranks.rank] as Range };
}
