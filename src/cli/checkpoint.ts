// The checkpoint file of a training: what it goes on from, what it keeps, and what is so when it is stopped.

import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { FormatError } from "../io/errors.ts";
import { readWhole } from "../io/files.ts";
import { CHECKPOINT } from "../train/checkpoint.ts";
import { freeName, writeSomewhere } from "./outputs.ts";
import type { Terminal } from "./terminal.ts";

export class CheckpointFile {
  readonly #asked: string;
  readonly #screen: Terminal;
  /** Where the last state of this training is, and everywhere that it kept one. */
  #path: string | undefined;
  readonly #kept = new Set<string>();
  /** Why the last state could not be kept. */
  #problem: string | undefined;

  constructor(path: string, screen: Terminal) {
    this.#asked = path;
    this.#screen = screen;
  }

  /** What there is to go on from; without a file the training starts from the beginning. */
  async read(): Promise<Uint8Array | undefined> {
    if (!existsSync(this.#asked)) {
      this.#screen.say(`there is no checkpoint ${this.#asked}: starting from the beginning`);
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
      if (this.#problem !== message) this.#screen.say(`no checkpoint: ${message}`);
      this.#problem = message;
    }
  }

  /** A checkpoint of another training is not lost to this one. */
  async #moveOther(): Promise<void> {
    if (!existsSync(this.#asked)) return;
    const other = freeName(this.#asked);
    await rename(this.#asked, other);
    this.#screen.say(`the checkpoint of an earlier training is kept as ${other}`);
  }

  /** After the end there is nothing to go on from. */
  async remove(): Promise<void> {
    for (const path of this.#kept) await rm(path, { force: true });
  }

  /** What is so when the training is stopped now. */
  standing(): string {
    const problem = this.#problem === undefined ? "" : `the state could not be kept: ${this.#problem}`;
    if (this.#path === undefined) return problem || "there is no state to go on from yet";
    const where = this.#path === this.#asked ? "" : ` --checkpoint ${this.#path}`;
    const state = problem
      ? `an earlier state is in ${this.#path}; ${problem}`
      : `the state is in ${this.#path}`;
    return `go on with --resume${where} (${state})`;
  }
}
