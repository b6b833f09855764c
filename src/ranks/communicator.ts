// Processes that compute one training together: what they say to one another. There is no sum among it: what comes from
// other ranks is gathered and added in an order that does not depend on how many there are (tree.ts).

/** Processes that compute one training together, as one of them sees them. */
export interface Communicator {
  /** Which of them this is, from 0. */
  readonly rank: number;
  readonly size: number;
  /** What every rank gives, one after another; `lengths` says how many bytes each gives, and is the same everywhere. */
  allgather(own: Uint8Array, lengths: readonly number[]): Uint8Array;
  /** Comes back when every rank has come here. */
  barrier(): void;
  /** Leaves the others when all is done. */
  close(): void;
  /** Ends all of them, with this status. */
  abort(status: number): void;
}

/** One process that computes as several would. */
export const alone: Communicator = {
  rank: 0,
  size: 1,
  allgather: (own) => own,
  barrier: () => {},
  close: () => {},
  abort: () => {},
};

/** Whether something is so on any of the ranks. */
export function onAny(ranks: Communicator, isSo: boolean): boolean {
  return ranks.allgather(Uint8Array.of(isSo ? 1 : 0), new Array<number>(ranks.size).fill(1)).includes(1);
}
