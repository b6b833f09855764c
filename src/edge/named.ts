// Names of labels at the edge, loaded by models that have them: logits that the text has moved.

import { bestOf, type Judged } from "../base/top.ts";
import { logistic, RANKS } from "../calibrate/forward.ts";
import type { RowMover } from "../parts/row.ts";
import { byRank, type Logits, type MovedLogits, type RankedLabel, ROUNDING } from "./scores.ts";

export { namesRow } from "../parts/names/row.ts";

/** So many of the best are looked at first, then sixteen times as many: each look costs a sort. */
const FIRST_BEST = 64;

/** Logits that the text has moved, those of labels beyond the calibrator's among them. */
export class NamedLogits implements MovedLogits {
  readonly rankOffsets: undefined;
  readonly #base: Logits;
  readonly #mover: RowMover;
  readonly #known: number;
  readonly #standing: ReadonlyMap<number, Float64Array>;
  readonly #ranked: ReturnType<typeof byRank>;

  constructor(base: Logits, known: number, mover: RowMover, text: string) {
    this.#base = base;
    this.#mover = mover;
    this.#known = known;
    this.#standing = mover.standing(text);
    this.#ranked = byRank(base.rankOffsets, () => bestOf(base.candidates(RANKS, -Infinity, undefined), RANKS));
  }

  get beyond(): RankedLabel[] {
    const labels = Int32Array.from(this.#standing.keys()).filter((label) => label >= this.#known);
    const values = Float64Array.from(labels, (label) => this.of(label));
    return bestOf({ labels, values }, labels.length).map(({ label, value }) => ({
      label,
      probability: logistic(value),
    }));
  }

  of(label: number): number {
    const before = label < this.#known ? this.#ranked(label, this.#base.of(label)) : 0;
    return this.#mover.moved(label, before, this.#standing.get(label));
  }

  candidates(most: number, least: number, allowed: Uint8Array | undefined): Judged {
    for (let depth = Math.max(FIRST_BEST, most); ; depth *= 16) {
      const count = Math.min(depth, this.#known);
      const base = this.#base.candidates(count, -Infinity, allowed);
      const others = [...this.#standing.keys()].filter((label) => allowed?.[label] !== 0);
      const labels = Int32Array.from(new Set([...Array.from(base.labels), ...others])).sort();
      const found = { labels, values: Float64Array.from(labels, (label) => this.of(label)) };
      const [edge] = bestOf(base, count).slice(count - 1);
      const [last] = bestOf(found, most).slice(most - 1);
      const bar = last ? Math.max(least, last.value) : least;
      if (count === this.#known || !edge || this.#mover.most(edge.value) + ROUNDING < bar) return found;
    }
  }
}
