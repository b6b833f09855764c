// Processes that compute one training together, and their collective operations. There is no sum among them: numbers of other
// ranks are gathered and added in an order that does not depend on how many there are (tree.ts).

/** Processes that compute one training together, as one of them sees them. */
export interface Communicator {
  /** Number of this process, from 0. */
  readonly rank: number;
  readonly size: number;
  /** The bytes of every rank, one after another; `lengths` says how many each gives, and is the same everywhere. */
  allgather(own: Uint8Array, lengths: readonly number[]): Uint8Array;
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
  close: () => {},
  abort: () => {},
};

/** Which of these flags are set on any of the ranks. */
export function onAny(ranks: Communicator, flags: readonly boolean[]): boolean[] {
  const all = ranks.allgather(Uint8Array.from(flags, Number), new Array<number>(ranks.size).fill(flags.length));
  return flags.map((_, i) => all.some((flag, at) => flag === 1 && at % flags.length === i));
}
