// Choices drawn from a seed: the same seed makes the same ones.

import { generator } from "../support/numbers.ts";

export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = generator(seed);
  }

  /** A whole number below `count`. */
  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  chance(part: number): boolean {
    return this.#next() < part;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}
