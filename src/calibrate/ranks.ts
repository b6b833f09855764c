// The winner's curse: the label that a point lists first is there for its luck as well, and comes true a little less often than
// its score says. So a label's rank among those of its point moves its logit, by as much as left-out points show; a label
// never passes the one before it, so that the order stays.

import { logistic } from "./forward.ts";
import type { HeldOutPairs } from "./pairs.ts";

/** The last ranks of groups that move together, from 1; labels beyond them stay where they are. */
const GROUPS: readonly number[] = [1, 2, 3, 4, 5, 10, 20];
/** Ranks that a label may have. */
export const RANKS = 20;
/** Pull of each group's offset to 0. */
const RIDGE = 100;
const MOST_STEPS = 20;

/** Least distance of moved logits that follow one another. */
const GAP = 1e-4;

/** What each rank adds to a logit [RANKS], fitted to pairs with these logits, and the logits moved by it. */
export function fitRanks(
  { row, signedWeight }: Pick<HeldOutPairs, "row" | "signedWeight">,
  logits: Float64Array,
): { offsets: Float64Array; logits: Float64Array } {
  const ranked = rankedPairs(row, logits);
  const offsets = new Float64Array(RANKS);
  let first = 0;
  for (const last of GROUPS) {
    const members = ranked.flatMap((pairs) => pairs.slice(first, last));
    offsets.fill(groupOffset(members, signedWeight, logits), first, last);
    first = last;
  }
  const moved = logits.slice();
  for (const pairs of ranked) {
    const own = moveByRank(
      pairs.map((pair) => logits[pair] as number),
      offsets,
    );
    pairs.forEach((pair, rank) => {
      moved[pair] = own[rank] as number;
    });
  }
  return { offsets, logits: moved };
}

/** Moves the logits of a point, best first, by the offsets of their ranks; each stays below the one before. */
export function moveByRank(logits: readonly number[], offsets: ArrayLike<number>): number[] {
  const moved: number[] = [];
  logits.forEach((logit, rank) => {
    moved.push(Math.min(below(moved), logit + (offsets[rank] ?? 0)));
  });
  return moved;
}

/** What the logits after those moved may be at most. */
export const below = (moved: readonly number[]): number => (moved.at(-1) ?? Number.POSITIVE_INFINITY) - GAP;

/** The pairs of each row, best first; of equals the first. */
function rankedPairs(row: Int32Array, logits: Float64Array): number[][] {
  const ofRow = new Map<number, number[]>();
  row.forEach((own, pair) => {
    const pairs = ofRow.get(own);
    if (pairs) pairs.push(pair);
    else ofRow.set(own, [pair]);
  });
  const byLogit = (a: number, b: number): number => (logits[b] as number) - (logits[a] as number) || a - b;
  return Array.from(ofRow.values(), (pairs) => pairs.sort(byLogit));
}

/** The one offset of all these logits with the least log loss, by Newton's method. */
function groupOffset(members: readonly number[], signedWeight: Float64Array, logits: Float64Array): number {
  let offset = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    let [gradient, curvature] = [RIDGE * offset, RIDGE];
    for (const pair of members) {
      const signed = signedWeight[pair] as number;
      const weight = Math.abs(signed);
      const p = logistic((logits[pair] as number) + offset);
      gradient += weight * (p - (signed > 0 ? 1 : 0));
      curvature += weight * p * (1 - p);
    }
    const move = gradient / curvature;
    offset -= move;
    if (Math.abs(move) < 1e-9) break;
  }
  return offset;
}
