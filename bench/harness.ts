// Measures contenders side by side: every round runs each of them once, so that what disturbs the machine disturbs all.

export interface BenchOptions {
  json: boolean;
  rounds: number;
  /** Only the cases whose name holds this. */
  only?: string;
  /** How long each long run goes on. */
  minutes?: number;
  /** Files that were named, another file to train on, and how many texts of each are taken. */
  files: readonly string[];
  train?: string;
  texts?: number;
}

export interface Contender {
  name: string;
  /** Does the work once and returns the milliseconds it took. */
  run: () => number | Promise<number>;
}

export interface Case {
  name: string;
  /** Floating point operations of one run, for GFLOP/s. */
  flops?: number;
  contenders: Contender[];
  /** Fewer rounds for what takes seconds. */
  rounds?: number;
  /** Something to say about the results, once they are there. */
  note?: () => Record<string, unknown>;
}

export interface Measured {
  name: string;
  /** Median, and the least disturbed run. */
  milliseconds: number;
  best: number;
}

const WARM_UP_MILLISECONDS = 600;
const LEAST_WARM_UP_RUNS = 3;

export const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Milliseconds of one synchronous run. */
export const clocked = (work: () => unknown) => (): number => {
  const begin = performance.now();
  work();
  return performance.now() - begin;
};

/** Milliseconds of one asynchronous run. */
export const clockedAsync = (work: () => Promise<unknown>) => async (): Promise<number> => {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
};

/** Medians of all contenders; one that throws is left out, and said so. */
export async function measure(benchmark: Case, options: BenchOptions): Promise<Measured[]> {
  const running: Contender[] = [];
  for (const contender of benchmark.contenders) {
    try {
      let spent = 0;
      for (let runs = 0; runs < LEAST_WARM_UP_RUNS || (spent < WARM_UP_MILLISECONDS && runs < 200); runs++) {
        spent += await contender.run();
        if (spent > 5 * WARM_UP_MILLISECONDS) break;
      }
      running.push(contender);
    } catch (error) {
      console.error(
        `${benchmark.name}: ${contender.name} left out (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }
  const times = running.map((): number[] => []);
  for (let round = 0; round < (benchmark.rounds ?? options.rounds); round++) {
    for (const [i, contender] of running.entries()) times[i].push(await contender.run());
  }
  return running.map(({ name }, i) => {
    const taken = times[i];
    return { name, milliseconds: median(taken), best: Math.min(...taken) };
  });
}

/** Measures a case and prints it: a table with speeds relative to the first contender, or a JSON object a line. */
export async function report(benchmark: Case, options: BenchOptions): Promise<void> {
  if (options.only !== undefined && !benchmark.name.includes(options.only)) return;
  const results = await measure(benchmark, options);
  const base = results[0];
  if (base === undefined) return;
  if (!options.json) console.log(`\n${benchmark.name}`);
  for (const { name, milliseconds, best } of results) {
    const gflops = benchmark.flops === undefined ? undefined : benchmark.flops / milliseconds / 1e6;
    const ratio = milliseconds / base.milliseconds;
    const bestRatio = best / base.best;
    if (options.json) {
      console.log(
        JSON.stringify({
          case: benchmark.name,
          contender: name,
          milliseconds,
          best,
          gflops,
          ratio,
          bestRatio,
        }),
      );
    } else {
      const speed = gflops === undefined ? "" : `${gflops.toFixed(1)} GFLOP/s`;
      console.log(
        `  ${name.padEnd(30)} ${milliseconds.toFixed(2).padStart(9)} ms (best ${best.toFixed(2)}) ${speed.padStart(14)}   ` +
          `${base.name} runs at ${ratio.toFixed(2)} x its speed (best ${bestRatio.toFixed(2)})`,
      );
    }
  }
  const note = benchmark.note?.();
  if (note) console.log(options.json ? JSON.stringify({ case: benchmark.name, ...note }) : `  ${JSON.stringify(note)}`);
}
