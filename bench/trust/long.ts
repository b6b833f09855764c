// The long forms of the fuzzers: altered compact and full models, altered data files of every format, kills of the command and of
// servers that learn, odd lessons. Each goes through seeds one after another, keeps where it is in a state file and goes on from
// there. TMPDIR=/dev/shm spares the disk: a kill leaves there what it leaves on any other.
//   npm run bench -- trust [--only full] [--minutes 10]

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname } from "node:path";
import { SAMPLES, tryData } from "../../test/data/strangers.ts";
import { compactSubject, fullSubject, type Subject, stateSubject, tryStranger } from "../../test/edge/strangers.ts";
import { processorTime } from "../../test/support/processor.ts";
import type { BenchOptions } from "../harness.ts";
import { killServers } from "../kills.ts";
import { killCommand } from "./kills.ts";
import { teachOddly } from "./lessons.ts";
import { parquetTrials } from "./parquet.ts";

/** Processor time beyond which a seed hangs: at the lowest priority the clock says nothing. */
const LONGEST_MILLISECONDS = 5000;
/** For seeds of many lives of processes, which are none of this one's time. */
const LONGEST_LIVES = 60_000;
/** Kills of two servers over one state, until they begin with a new model. */
const KILLS = 10;
const SAVE_MILLISECONDS = 10_000;
const TRACE_LINES = 10;
/** Altered models of each kind: ten million compact and full ones. */
const MODELS = 5_000_000;

/** What came of one seed: whether the file was refused, and the greatest array made for it. */
interface Trial {
  refused?: boolean;
  bytes?: number;
  allocated?: number;
  /** Files, kills or lessons of this seed, where they are more than one. */
  count?: number;
}

/** One kind of attack: what a seed does. What must never be is thrown. */
interface Attack {
  attempt(seed: number): Promise<Trial>;
  end?(): void;
  /** Milliseconds of processor time beyond which it hangs. */
  longest?: number;
  /** So many files, kills or lessons are enough. */
  enough: number;
}

/** Where an attack is, and the worst it has met. */
interface State {
  /** The next seed; they begin at 1. */
  next: number;
  /** Files, kills or lessons so far. */
  count: number;
  refused: number;
  /** Seeds with a crash, a wrong number or too much memory, and what it was. */
  wrong: string[];
  /** Seeds that took too long. */
  hangs: number[];
  slowest: { milliseconds: number; seed: number };
  /** Of the arrays made for a file: the greatest, and beside the bytes of its file. */
  greatest: { bytes: number; ofFile: number; seed: number };
  peakMegabytes: number;
}

const fresh = (): State => ({
  next: 1,
  count: 0,
  refused: 0,
  wrong: [],
  hangs: [],
  slowest: { milliseconds: 0, seed: 0 },
  greatest: { bytes: 0, ofFile: 0, seed: 0 },
  peakMegabytes: 0,
});

const models = (make: () => Promise<Subject>) => async (): Promise<Attack> => {
  const subject = await make();
  return { attempt: (seed) => tryStranger(subject, seed), end: () => subject.free(), enough: MODELS };
};

const attacks: Record<string, () => Promise<Attack>> = {
  compact: models(compactSubject),
  full: models(fullSubject),
  state: models(stateSubject),
  ...Object.fromEntries(
    Object.entries(SAMPLES).map(([name, sample]) => [
      `data, ${name}`,
      async (): Promise<Attack> => ({ attempt: (seed) => tryData(sample, seed), enough: 1_000_000 }),
    ]),
  ),
  "data, parquet": async () => ({ ...(await parquetTrials()), enough: 1_000_000 }),
  kills: async () => ({ attempt: killCommand, longest: LONGEST_LIVES, enough: 1000 }),
  servers: async () => ({ attempt: (seed) => killServers(2, KILLS, seed), longest: LONGEST_LIVES, enough: 200 }),
  lessons: async () => ({ attempt: teachOddly, longest: LONGEST_LIVES, enough: 100_000 }),
};

export async function trustBench({ only, minutes = 10, json }: BenchOptions): Promise<void> {
  setPriority(constants.priority.PRIORITY_LOW); // hours of it are in nobody's way
  // Nine of ten files are refused: without traces of their errors a fifth more of them are tried in the same time.
  Error.stackTraceLimit = 0;
  for (const [name, make] of Object.entries(attacks)) {
    if (only !== undefined && !name.includes(only)) continue;
    const file = `node_modules/.cache/mlgpf/trust-${name.replace(/\W+/g, "-")}.json`;
    mkdirSync(dirname(file), { recursive: true });
    const state = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as State) : fresh();
    await goOn(await make(), state, minutes, () => writeFileSync(file, JSON.stringify(state)));
    console.log(json ? JSON.stringify({ case: `trust, ${name}`, ...state }) : said(name, state));
  }
}

/** What is wrong with a seed, with a trace. */
async function traced(attack: Attack, seed: number): Promise<string> {
  Error.stackTraceLimit = TRACE_LINES;
  try {
    await attack.attempt(seed);
    return "found nothing wrong the second time, expected the same again";
  } catch (error) {
    return (error as Error).message;
  } finally {
    Error.stackTraceLimit = 0;
  }
}

async function goOn(attack: Attack, state: State, minutes: number, save: () => void): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  const { longest = LONGEST_MILLISECONDS } = attack;
  for (let saved = performance.now(); performance.now() < end && state.count < attack.enough; ) {
    const seed = state.next;
    const begin = processorTime();
    await attack.attempt(seed).then(
      (trial) => take(state, seed, trial),
      async () => state.wrong.push(`seed ${seed}: ${await traced(attack, seed)}`),
    );
    const milliseconds = processorTime() - begin;
    if (milliseconds > state.slowest.milliseconds) state.slowest = { milliseconds, seed };
    if (milliseconds > longest) state.hangs.push(seed);
    state.next = seed + 1;
    if (performance.now() - saved < SAVE_MILLISECONDS) continue;
    saved = performance.now();
    state.peakMegabytes = Math.max(state.peakMegabytes, process.resourceUsage().maxRSS / 1024);
    save();
  }
  attack.end?.();
  save();
}

function take(state: State, seed: number, trial: Trial): void {
  const { refused = false, bytes = 0, allocated = 0, count = 1 } = trial;
  state.count += count;
  if (refused) state.refused++;
  if (allocated > state.greatest.bytes) state.greatest = { bytes: allocated, ofFile: bytes, seed };
}

function said(name: string, { next, count, refused, wrong, hangs, slowest, greatest, peakMegabytes }: State): string {
  const worst = [
    `slowest ${slowest.milliseconds.toFixed(0)} ms (seed ${slowest.seed})`,
    `greatest array ${greatest.bytes} bytes for a file of ${greatest.ofFile} (seed ${greatest.seed})`,
    `${peakMegabytes.toFixed(0)} MB`,
  ];
  const counts = `${count} tried (seeds to ${next - 1}), ${refused} refused, ${wrong.length} wrong, ${hangs.length} hangs`;
  return [`${name}: ${counts}; ${worst.join(", ")}`, ...wrong.slice(0, 20)].join("\n  ");
}
