// Benches: cores whose matrices have guards behind them that nobody may write to; and what a case of the test of arguments is.

import * as api from "../../src/core/index.ts";

/** Arguments by name. */
export type Named = Record<string, unknown>;

/** How arguments differ from the right ones. */
interface Variation {
  more?: "rows" | "columns" | "none";
  gaps?: boolean;
}

const GUARD = 12345.5;

/** Makes arguments of one precision in one core. */
export interface Makers {
  core: api.Core;
  precision: api.Precision;
  /** [rows,columns] of small numbers, in the makers' precision or in another. */
  matrix(rows: number, columns: number, precision?: api.Precision): api.Matrix;
  /** Symmetric and positive definite. */
  positive(n: number): api.Matrix;
  sparse(rows: number, columns: number): api.Csr;
  pattern(rows: number, columns: number): api.Pattern;
  wholes(values: number[]): api.Integers;
  keep<T extends { free(): void }>(item: T): T;
}

/** A core with guards. */
export class Bench {
  readonly core: api.Core;
  #guards: api.Matrix[] = [];
  #made: { free(): void }[] = [];

  constructor(core: api.Core) {
    this.core = core;
  }

  of(precision: api.Precision, variation: Variation = {}): Makers {
    const { core } = this;
    const keep = <T extends { free(): void }>(item: T): T => {
      this.#made.push(item);
      const guard = api.fill(api.matrix(core, 1, 16, "f64"), GUARD);
      this.#guards.push(guard);
      return item;
    };
    const rowsOf = (n: number): number => (variation.more === "none" ? 0 : n + (variation.more === "rows" ? 1 : 0));
    const columnsOf = (n: number): number => n + (variation.more === "columns" ? 1 : 0);
    const matrix = (rows: number, columns: number, own: api.Precision = precision): api.Matrix => {
      const [r, c] = [rowsOf(rows), columnsOf(columns)];
      const whole = keep(api.matrix(core, r, variation.gaps ? c + 3 : c, own));
      whole.set(Array.from({ length: r * whole.columns }, (_, i) => 0.1 + ((i * 7) % 5) / 10));
      return variation.gaps ? whole.block(0, 0, r, c) : whole;
    };
    const listsOf = (rows: number, columns: number): api.Lists => ({
      rowStart: Int32Array.from({ length: rowsOf(rows) + 1 }, (_, i) => 2 * i),
      labelIndex: Int32Array.from({ length: 2 * rowsOf(rows) }, (_, e) => (e % 2) * (columnsOf(columns) - 1)),
    });
    return {
      core,
      precision,
      matrix,
      positive(n) {
        const made = matrix(n, n);
        if (made.rows === made.columns)
          api.addDiagonal(made, keep(api.matrixFrom(core, 1, made.rows, Array(made.rows).fill(9), precision)));
        return made;
      },
      sparse(rows, columns) {
        const { rowStart, labelIndex } = listsOf(rows, columns);
        const values = Array.from(labelIndex, (_, e) => 1 + e / 10);
        const size = { rows: rowsOf(rows), columns: columnsOf(columns) };
        return keep(api.csr(core, { ...size, rowStart, columnIndex: labelIndex, values }, precision));
      },
      pattern: (rows, columns) => keep(new api.Pattern(core, columnsOf(columns), listsOf(rows, columns))),
      wholes: (values) => keep(api.integers(core, variation.more === "none" ? [] : values)),
      keep,
    };
  }

  checkGuards(where: string): void {
    for (const guard of this.#guards)
      if (guard.toArray().some((value) => value !== GUARD)) throw new Error(`${where}: wrote to a guard`);
  }

  /** Gives everything back. */
  reset(): void {
    for (const item of [...this.#made.splice(0), ...this.#guards.splice(0)]) item.free();
  }
}

/** A core, and another one. */
export async function benches(): Promise<[Bench, Bench]> {
  return [new Bench(await api.createCore({ threads: 1 })), new Bench(await api.createCore({ threads: 1 }))];
}

/** A right call of one export. */
export interface Case {
  args: (makers: Makers) => Named;
  call: (given: never) => unknown;
  /** Whether all its matrices have one precision. */
  onePrecision?: boolean;
  /** Arguments that may be anything, or left out. */
  free?: string[];
}

/** A case whose arguments are checked against its call. */
export const that = <Given extends Named>(
  args: (makers: Makers) => Given,
  call: (given: Given) => unknown,
  more: Pick<Case, "onePrecision" | "free"> = {},
): Case => ({ args, call, ...more });
