// A sum over numbered terms in a fixed tree: node i of level l is the sum of nodes 2i and 2i + 1 of the level below, and the
// terms are level 0. Whoever has all terms of a node may add them up; the sum has the same bytes.

export interface TreeNode<T> {
  level: number;
  index: number;
  value: T;
}

export class TreeSum<T> {
  /** Nodes that could not be added up yet, from left to right. */
  readonly #open: TreeNode<T>[] = [];

  constructor(private readonly add: (left: T, right: T) => T) {}

  /** Takes the next node: the one whose first term comes after the last term of the node before. */
  push(node: TreeNode<T>): void {
    let { level, index, value } = node;
    for (let left = this.#open.at(-1); left !== undefined; left = this.#open.at(-1)) {
      if (index % 2 === 0 || left.level !== level || left.index !== index - 1) break;
      this.#open.pop();
      value = this.add(left.value, value);
      level++;
      index = (index - 1) / 2;
    }
    this.#open.push({ level, index, value });
  }

  /** The nodes that are not yet part of a greater one, from left to right. */
  nodes(): readonly TreeNode<T>[] {
    return this.#open;
  }

  /** The sum, once all terms are there: nodes without a right neighbour are added from the right. */
  total(): T | undefined {
    return this.#open.map(({ value }) => value).reduceRight((right, left) => this.add(left, right));
  }
}

/** The greatest nodes that the terms `from` to `to` make. */
export function nodesOf(from: number, to: number): readonly TreeNode<undefined>[] {
  const sum = new TreeSum<undefined>(() => undefined);
  for (let index = from; index < to; index++) sum.push({ level: 0, index, value: undefined });
  return sum.nodes();
}
