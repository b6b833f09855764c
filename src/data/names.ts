// Names of labels or columns, numbered in order of appearance or as a model has them.

export class NameIndex {
  readonly names: string[];
  readonly #ids: Map<string, number>;
  /** How often names were forgotten: until it rises, a name has the number it had. */
  forgotten = 0;

  constructor(names: readonly string[] = []) {
    this.names = [...names];
    this.#ids = new Map(names.map((name, id) => [name, id]));
  }

  get size(): number {
    return this.names.length;
  }

  /** -1 when the name is not known. */
  find(name: string): number {
    return this.#ids.get(name) ?? -1;
  }

  findOrAdd(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.names.push(name) - 1;
    this.#ids.set(name, id);
    return id;
  }

  /** Forgets the names added after the first `size`. */
  shrink(size: number): void {
    if (size >= this.names.length) return;
    for (const name of this.names.splice(size)) this.#ids.delete(name);
    this.forgotten++;
  }
}
