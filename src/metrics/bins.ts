// Predictions sorted into bins by their probability, with how often they came true: the data of a reliability
// curve.

/** The predictions with a probability from `from` up to `to`. */
export interface ReliabilityBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly meanProbability: number;
  /** Fraction that was true. */
  readonly frequency: number;
}

const probabilityBits = new Uint32Array(1);
const probabilityFloat = new Float32Array(probabilityBits.buffer);

/**
 * Cells of equal width in the float's bits: 256 to a doubling of the probability. Equal-mass bins are put
 * together from these, so that no probability has to be kept: their bounds are right to 0.4 %.
 */
const CELL_SHIFT = 15;
const CELLS = (0x3f800000 >>> CELL_SHIFT) + 1; // 1.0 is the last

function cellOf(probability: number): number {
  probabilityFloat[0] = probability;
  return Math.min((probabilityBits[0] as number) >>> CELL_SHIFT, CELLS - 1);
}

function cellStart(cell: number): number {
  probabilityBits[0] = cell << CELL_SHIFT;
  return Math.min(probabilityFloat[0] as number, 1);
}

/** Counts, summed probabilities and positives of a row of bins. */
class BinSums {
  readonly counts: Float64Array;
  readonly probabilities: Float64Array;
  readonly positives: Float64Array;

  constructor(bins: number) {
    this.counts = new Float64Array(bins);
    this.probabilities = new Float64Array(bins);
    this.positives = new Float64Array(bins);
  }

  add(bin: number, probability: number): void {
    this.counts[bin] = (this.counts[bin] as number) + 1;
    this.probabilities[bin] = (this.probabilities[bin] as number) + probability;
  }

  addPositive(bin: number): void {
    this.positives[bin] = (this.positives[bin] as number) + 1;
  }

  merge(other: BinSums): void {
    for (const sums of ["counts", "probabilities", "positives"] as const) {
      const mine = this[sums];
      for (let bin = 0; bin < mine.length; bin++)
        mine[bin] = (mine[bin] as number) + (other[sums][bin] as number);
    }
  }
}

export class ReliabilityBins {
  readonly bins: number;
  readonly #width: BinSums; // bins of equal width
  readonly #cells: BinSums; // what equal-mass bins are made of

  constructor(bins: number) {
    this.bins = bins;
    this.#width = new BinSums(bins);
    this.#cells = new BinSums(CELLS);
  }

  /** Bins are [i/n, (i+1)/n), the last one with 1. */
  #binOf(probability: number): number {
    return Math.min(Math.floor(probability * this.bins), this.bins - 1);
  }

  add(probability: number): void {
    this.#width.add(this.#binOf(probability), probability);
    this.#cells.add(cellOf(probability), probability);
  }

  /** Marks a prediction that was added as true. */
  addPositive(probability: number): void {
    this.#width.addPositive(this.#binOf(probability));
    this.#cells.addPositive(cellOf(probability));
  }

  /** Adds what another one with as many bins has seen. */
  merge(other: ReliabilityBins): void {
    this.#width.merge(other.#width);
    this.#cells.merge(other.#cells);
  }

  /** The bins of equal width that are not empty. */
  equalWidth(): ReliabilityBin[] {
    const groups = Array.from({ length: this.bins }, (_, i) => [i, i + 1] as const);
    return collect(this.#width, groups, (bin) => bin / this.bins);
  }

  /** At most `bins` bins with about as many predictions in each; equal probabilities are never parted. */
  equalMass(): ReliabilityBin[] {
    const { counts } = this.#cells;
    const total = counts.reduce((sum, count) => sum + count, 0);
    const groups: [number, number][] = [];
    let start = 0;
    let mass = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      mass += counts[cell] as number;
      if (mass > 0 && mass >= (total * (groups.length + 1)) / this.bins) {
        groups.push([start, cell + 1]);
        start = cell + 1;
      }
    }
    return collect(this.#cells, groups, cellStart);
  }
}

/** One bin for each group [first, last) of cells that has any prediction. */
function collect(
  sums: BinSums,
  groups: readonly (readonly [first: number, last: number])[],
  bound: (cell: number) => number,
): ReliabilityBin[] {
  const bins: ReliabilityBin[] = [];
  for (const [first, last] of groups) {
    let count = 0;
    let probability = 0;
    let positives = 0;
    for (let cell = first; cell < last; cell++) {
      count += sums.counts[cell] as number;
      probability += sums.probabilities[cell] as number;
      positives += sums.positives[cell] as number;
    }
    if (count === 0) continue;
    const [from, to] = [bound(first), bound(last)];
    bins.push({ from, to, count, meanProbability: probability / count, frequency: positives / count });
  }
  return bins;
}

/** Expected calibration error: the mean over predictions of |mean probability - frequency| of their bin. */
export function calibrationError(bins: readonly ReliabilityBin[]): number {
  let total = 0;
  let error = 0;
  for (const bin of bins) {
    total += bin.count;
    error += bin.count * Math.abs(bin.meanProbability - bin.frequency);
  }
  return total === 0 ? 0 : error / total;
}
