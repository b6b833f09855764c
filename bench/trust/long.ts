// The long forms of the fuzzers: altered compact and full models, altered data files of every format, kills of the command. Each goes
// through seeds one after another, keeps where it is in a state file and goes on from there.
//   npm run bench -- trust [--only full] [--minutes 10]

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname } from "node:path";
import { SAMPLES, tryData } from "../../test/data/strangers.ts";
import {
  compactSubject,
  fullSubject,
  type Subject,
  stateSubject,
  tryStranger,
} from "../../test/edge/strangers.ts";
import type { BenchOptions } from "../harness.ts";
import { killCommand } from "./kills.ts";

/** What takes longer is a hang; a training that is killed and goes on takes its time. */
const LONGEST_MILLISECONDS = 5000;
const LONGEST_TRAINING = 120_000;
const SAVE_MILLISECONDS = 10_000;
const MEGABYTE = 2 ** 20;
const TRACE_LINES = 10;
/** Altered models of each kind: ten million compact and full ones. */
const MODELS = 5_000_000;

/** What came of one seed: whether the file was refused, and the most that was allocated for a byte of it. */
interface Trial {
  refused: boolean;
  bytes: number;
  allocated: number;
}

/** One kind of attack: what a seed does. What must never be is thrown. */
interface Attack {
  attempt(seed: number): Promise<Trial>;
  end?(): void;
  /** Milliseconds beyond which it hangs. */
  longest?: number;
  /** So many seeds are enough. */
  enough: number;
}

/** Where an attack is, and the worst it has met. */
interface State {
  /** The next seed; they begin at 1. */
  next: number;
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
  kills: async () => ({ attempt: killCommand, longest: LONGEST_TRAINING, enough: 1000 }),
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
  for (let saved = performance.now(); performance.now() < end && state.next <= attack.enough; ) {
    const seed = state.next;
    const begin = performance.now();
    await attack.attempt(seed).then(
      (trial) => take(state, seed, trial),
      async () => state.wrong.push(`seed ${seed}: ${await traced(attack, seed)}`),
    );
    const milliseconds = performance.now() - begin;
    if (milliseconds > state.slowest.milliseconds) state.slowest = { milliseconds, seed };
    if (milliseconds > longest) state.hangs.push(seed);
    state.next = seed + 1;
    if (performance.now() - saved < SAVE_MILLISECONDS) continue;
    saved = performance.now();
    state.peakMegabytes = Math.max(state.peakMegabytes, process.memoryUsage().rss / MEGABYTE);
    save();
  }
  attack.end?.();
  save();
}

function take(state: State, seed: number, { refused, bytes, allocated }: Trial): void {
  if (refused) state.refused++;
  if (allocated > state.greatest.bytes) state.greatest = { bytes: allocated, ofFile: bytes, seed };
}

function said(
  name: string,
  { next, refused, wrong, hangs, slowest, greatest, peakMegabytes }: State,
): string {
  const worst = [
    `slowest ${slowest.milliseconds.toFixed(0)} ms (seed ${slowest.seed})`,
    `greatest array ${greatest.bytes} bytes for a file of ${greatest.ofFile} (seed ${greatest.seed})`,
    `${peakMegabytes.toFixed(0)} MB`,
  ];
  const counts = `${next - 1} tried, ${refused} refused, ${wrong.length} wrong, ${hangs.length} hangs`;
  return [`${name}: ${counts}; ${worst.join(", ")}`, ...wrong.slice(0, 20)].join("\n  ");
}
