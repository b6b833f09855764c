// Labels that no training point has and that a model knows by name: how many of them it finds, and how far it can be believed.

import type { RankedValue } from "../base/top.ts";
import { type Reliability, ReliabilityMeter } from "./reliability.ts";
import { type BestRow, ratio, TOP } from "./rows.ts";

/** Figures of labels that training has not seen. */
export interface UnseenReport {
  /** True labels of the points that training has not seen. */
  readonly positives: number;
  /** The part of them in the first five labels, and in the first five of those that training has not seen. */
  readonly recall: number;
  readonly recallAlone: number;
  /** The first five such labels of each point. */
  readonly top5: Reliability;
}

/** Adds up labels from the number `labels` on. */
export class UnseenMeter {
  readonly #reliability = new ReliabilityMeter();
  #positives = 0;
  #found = 0;
  #foundAlone = 0;

  constructor(private readonly labels: number) {}

  /** A row with its unseen labels, most probable first. */
  add({ own, ranked }: BestRow, beyond: readonly RankedValue[]): void {
    const first = beyond.slice(0, TOP);
    for (const { label, value } of first) this.#reliability.add(value, own.includes(label));
    for (const label of own) {
      if (label < this.labels) continue;
      this.#positives++;
      if (first.some((each) => each.label === label)) this.#foundAlone++;
      for (let j = 0; j < Math.min(TOP, ranked.length); j++) if (ranked[j] === label) this.#found++;
    }
  }

  report(): UnseenReport {
    return {
      positives: this.#positives,
      recall: ratio(this.#found, this.#positives),
      recallAlone: ratio(this.#foundAlone, this.#positives),
      top5: this.#reliability.report(),
    };
  }
}
