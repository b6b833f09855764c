// Does a model that learns keep its promises? Documents that people label are compared with what the model kept of them before it learned
// them. The mean has a confidence sequence, which holds at all times at once, so that one may look at it as often as one likes (empirical
// Bernstein, predictable plug-in; Waudby-Smith and Ramdas 2023): with x_i in [0, 1] and estimates of mean and variance from before,
//
//     l_i = min(1/2, sqrt(2 ln(2/a) / (s^2 i ln(1 + i))))      psi(l) = -ln(1 - l) - l
//     sum l_i x_i / sum l_i  +-  (ln(2/a) + sum psi(l_i) (x_i - m)^2) / sum l_i
//
// holds the mean with probability 1 - a for every number of documents.

/** A promise of a model, and documents judged by it: labels kept and kept rightly, and true ones. */
export interface Judgement {
  readonly promise: "recall" | "precision";
  readonly target: number;
  readonly documents: readonly { readonly kept: number; readonly right: number; readonly truths: number }[];
}

/** How a promise stands: observed, and where the truth lies with 95 % confidence, however often one looks. */
export interface PromiseStatus extends Pick<Judgement, "promise" | "target"> {
  readonly documents: number;
  readonly observed: number;
  readonly low: number;
  readonly high: number;
  /** False once it is not kept any more. */
  readonly holds: boolean;
}

const LOG = Math.log(2 / 0.05);

/** The mean of numbers in [0, 1], where it lies with 95 % confidence at all times. Plain numbers, which can be kept. */
export class ConfidenceSequence {
  count = 0;
  low = 0;
  high = 1;
  sum = 0.5;
  squares = 0.25;
  bets = 0;
  won = 0;
  spread: number = LOG;

  add(x: number): void {
    const i = ++this.count;
    const [before, variance] = [this.sum / i, this.squares / i];
    const bet = Math.min(0.5, Math.sqrt((2 * LOG) / (variance * i * Math.log(1 + i))));
    this.bets += bet;
    this.won += bet * x;
    this.spread += (-Math.log(1 - bet) - bet) * (x - before) ** 2;
    this.sum += x;
    this.squares += (x - this.sum / (i + 1)) ** 2;
    const [middle, width] = [this.won / this.bets, this.spread / this.bets];
    this.low = Math.max(this.low, middle - width);
    this.high = Math.min(this.high, middle + width);
  }
}

/** Labels of a document that count for a precision: the most probable ones. */
export const MOST_KEPT = 5;

/** A promise that is watched. Precision is that of all labels together: a document moves it by as many as it keeps. */
class Watch {
  readonly of: Pick<Judgement, "promise" | "target">;
  readonly sequence = new ConfidenceSequence();
  right = 0;
  all = 0;

  constructor({ promise, target }: Pick<Judgement, "promise" | "target">) {
    this.of = { promise, target };
  }

  /** One that was kept; undefined where it is none. */
  static from(kept: unknown): Watch | undefined {
    const { of, right, all, sequence } = Object(kept) as Partial<Watch>;
    const watch = new Watch(Object(of) as Watch["of"]);
    const numbers = { ...Object(sequence), target: watch.of.target, right, all } as Record<string, unknown>;
    const expected = [...Object.keys(watch.sequence), "target", "right", "all"];
    if (!expected.every((name) => Number.isFinite(numbers[name]))) return undefined;
    Object.assign(watch, { right, all });
    Object.assign(watch.sequence, sequence);
    return watch.of.promise === "recall" || watch.of.promise === "precision" ? watch : undefined;
  }

  add({ kept, right, truths }: Judgement["documents"][number]): void {
    const { promise, target } = this.of;
    if (promise === "recall" && truths === 0) return;
    this.right += promise === "recall" ? right / truths : right;
    this.all += promise === "recall" ? 1 : kept;
    this.sequence.add(promise === "recall" ? right / truths : target + (right - target * kept) / MOST_KEPT);
  }

  get status(): PromiseStatus {
    const { promise, target } = this.of;
    const { count: documents, low, high } = this.sequence;
    // So many labels of a document count on average, each of which is one of MOST_KEPT.
    const scale = promise === "recall" ? 1 : (MOST_KEPT * documents) / Math.max(1, this.all);
    const at = (bound: number): number => Math.min(1, Math.max(0, target + (bound - target) * scale));
    const observed = this.right / Math.max(1, this.all);
    return { promise, target, documents, observed, low: at(low), high: at(high), holds: high >= target };
  }
}

export class Drift {
  /** The last batch of the journal that was judged. */
  batch: number;
  #watched: Watch[];
  readonly #say: (sentence: string) => void;

  /** Goes on from what was `kept`, where that can be read. */
  constructor(say: (sentence: string) => void, kept: unknown = {}) {
    const { batch, watched } = Object(kept) as { batch?: unknown; watched?: unknown };
    this.batch = Number.isSafeInteger(batch) ? Number(batch) : 0;
    this.#watched = Array.isArray(watched) ? watched.flatMap((each) => Watch.from(each) ?? []) : [];
    this.#say = say;
  }

  /** All that it goes on from, as plain JSON. */
  get kept(): Readonly<Record<string, unknown>> {
    return { batch: this.batch, watched: structuredClone(this.#watched) };
  }

  /** A promise with another target than before is watched from its start. */
  add(judgements: readonly Judgement[], batch: number = this.batch): void {
    this.batch = batch;
    this.#watched = judgements.map((judgement) => {
      const { promise, target, documents } = judgement;
      const same = ({ of }: Watch): boolean => of.promise === promise && of.target === target;
      const watch = this.#watched.find(same) ?? new Watch(judgement);
      const held = watch.status.holds;
      for (const document of documents) watch.add(document);
      const { observed, documents: count, holds } = watch.status;
      const figures = `promised ${target}, observed ${observed.toFixed(3)} on ${count} documents`;
      if (held && !holds) this.#say(`the ${promise} is no longer as promised: ${figures}; train or calibrate again`);
      return watch;
    });
  }

  get status(): readonly PromiseStatus[] {
    return this.#watched.map(({ status }) => status).filter(({ documents }) => documents > 0);
  }
}
