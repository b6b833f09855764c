// Files of a training beside its data and model (checkpoint, log of steps), and the other processes of its launcher.

import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import process from "node:process";
import { FormatError } from "../base/errors.ts";
import { fileError, readWhole } from "../io/files.ts";
import { alone, type Communicator } from "../mpi/communicator.ts";
import { joinRanks, launched } from "../mpi/mpi.ts";
import type { StepValue } from "../parts/progress.ts";
import { CHECKPOINT } from "../parts/svgp/checkpoint.ts";
import { freeName, writeSomewhere } from "./models.ts";
import type { Terminal } from "./terminal.ts";

export class CheckpointFile {
  readonly #asked: string;
  readonly #screen: Terminal;
  /** Where the last state of this training is, and everywhere that it kept one. */
  #path: string | undefined;
  readonly #kept = new Set<string>();
  #problem: string | undefined;

  constructor(path: string, screen: Terminal) {
    this.#asked = path;
    this.#screen = screen;
  }

  /** The state to resume from; without a file the training starts from the beginning. */
  async read(): Promise<Uint8Array | undefined> {
    if (!existsSync(this.#asked)) {
      this.#screen.say(`There is no checkpoint ${this.#asked}; starting from the beginning`);
      return undefined;
    }
    const bytes = await readWhole(this.#asked);
    this.#path = this.#asked;
    this.#kept.add(this.#path);
    return bytes;
  }

  /** An error about the state that was read, with the name of its file. */
  named(error: unknown): unknown {
    if (!(error instanceof FormatError) || error.file !== CHECKPOINT) return error;
    return new FormatError(this.#asked, error.found, error.expected);
  }

  /** Keeps a state. One that cannot be kept is said, and does not end the training. */
  async write(chunks: readonly Uint8Array[]): Promise<void> {
    try {
      if (this.#path === undefined) await this.#moveOther();
      const { path, problem } = await writeSomewhere(this.#path ?? this.#asked, chunks);
      if (problem) this.#screen.say(`${problem.message}; the checkpoint is in ${path}`);
      this.#path = path;
      this.#kept.add(path);
      this.#problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (this.#problem !== message) this.#screen.say(`No checkpoint: ${message}`);
      this.#problem = message;
    }
  }

  /** A checkpoint of another training is not lost to this one. */
  async #moveOther(): Promise<void> {
    if (!existsSync(this.#asked)) return;
    const other = freeName(this.#asked);
    await rename(this.#asked, other);
    this.#screen.say(`The checkpoint of an earlier training is kept as ${other}`);
  }

  /** After the end there is nothing to go on from. */
  async remove(): Promise<void> {
    for (const path of this.#kept) await rm(path, { force: true });
  }

  /** How to go on when the training is stopped now. */
  standing(closed: boolean): string {
    const problem = this.#problem === undefined ? "" : `The checkpoint could not be written: ${this.#problem}`;
    if (this.#path === undefined) {
      if (problem) return problem;
      return closed
        ? "This kind of training keeps no checkpoint; start it again."
        : "There is no checkpoint yet; start it again.";
    }
    const where = this.#path === this.#asked ? "" : ` --checkpoint ${this.#path}`;
    const age = problem ? `an earlier checkpoint is in ${this.#path}; ${problem}` : `checkpoint ${this.#path}`;
    return `Continue with --resume${where} (${age}).`;
  }
}

const COLUMNS = ["step", "epoch", "bound", "dataTerm", "divergence"] as const;
type StepLog = { write(value: StepValue): void; close(): void };

/**
 * --log FILE: the bound of every step as CSV, written as the steps come. A training that resumes goes on in its log. A log that
 * cannot be written any more (a full disk) ends with what it has, and says so: the training goes on.
 */
export function openStepLog(path: string, resumed: boolean, screen: Terminal): StepLog {
  const before = resumed && existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").slice(1) : [];
  const file = openSync(path, "w");
  let whole = true;
  const line = (text: string): void => {
    if (!whole) return;
    try {
      writeSync(file, `${text}\n`);
    } catch (error) {
      whole = false;
      screen.say(`${fileError("write", path, error).message}; the log ends here`);
    }
  };
  line(COLUMNS.join(","));
  return {
    write(value) {
      for (const earlier of before.splice(0)) if (Number.parseInt(earlier, 10) < value.step) line(earlier);
      line(COLUMNS.map((name) => value[name]).join(","));
    },
    close: () => closeSync(file),
  };
}

/** An error that all ranks meet is said by the first, which then ends the others: each waits so long for those before it. */
const SILENCE_MILLISECONDS = 1000;
const FORWARD_MILLISECONDS = 200;

/** Does the work with the other processes, where mpiexec has started some; they end together. */
export async function withRanks<T>(work: (ranks: Communicator | undefined) => Promise<T>): Promise<T> {
  const launch = launched(process.env);
  if (launch === undefined) return await work(undefined);
  const ranks = launch.size === 1 ? alone : await joinRanks(launch, process.env.MLGPF_MPI_LIBRARY);
  let done: T;
  try {
    done = await work(ranks);
  } catch (error) {
    // By then it has been said. The launcher drops what it has not forwarded yet when a rank aborts: it is given a moment.
    process.once("exit", (status) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FORWARD_MILLISECONDS);
      ranks.abort(status);
    });
    if (ranks.rank === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, ranks.rank * SILENCE_MILLISECONDS));
    (error as Error).message = `rank ${ranks.rank} of ${ranks.size}: ${(error as Error).message}`;
    throw error;
  }
  ranks.close();
  // Node crashes at its end over what Open MPI leaves behind.
  const { reallyExit } = process as unknown as { reallyExit?: (status: number) => never };
  if (launch.openMpi) process.once("exit", (status) => reallyExit?.(status));
  return done;
}
