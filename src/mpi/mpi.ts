// Ranks that mpiexec (or srun) started. Waiting is done by asking, with pauses: libraries of MPI wait by spinning, which takes
// the core from a rank that still computes where there are more ranks than cores.

import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import type { Communicator } from "./communicator.ts";
import { type Library, loadLibrary, type Name } from "./library.ts";

/** Environment variables of the launchers: number of this process, and of how many. */
const launchers = [
  { rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE", openMpi: true },
  { rank: "PMI_RANK", size: "PMI_SIZE", openMpi: false },
];

export interface Launched {
  size: number;
  openMpi: boolean;
}

/** The launcher that has started this process, if one has. */
export function launched(environment: NodeJS.ProcessEnv): Launched | undefined {
  const found = launchers.find(({ rank, size }) => environment[rank] && environment[size]);
  return found && { size: Number(environment[found.size]), openMpi: found.openMpi };
}

/** Milliseconds of asking without a pause, and the pause between two questions afterwards. */
const EAGER = 1;
const PAUSE = 0.1;
/** Milliseconds between two looks at whether the others still run. */
const LOOK = 500;
/** Room for MPI_Status and MPI_Request of any library. */
const STATUS_BYTES = 128;

/** Memory that stays where it is while the library uses it: small arrays without a buffer of their own may be moved. */
const bytes = (length: number): Uint8Array => new Uint8Array(new ArrayBuffer(length));
const wholes = (length: number): Int32Array => new Int32Array(new ArrayBuffer(4 * length));

/**
 * A rank on the same machine. A launcher should end all ranks when one ends, but not all do (srun, unless it is told to), and a rank
 * that waits for one that is gone would wait for ever.
 */
type Peer = { rank: number; pid: number };

const PEER_BYTES = 256;

/** The machine and its numbering of processes: containers have their own. */
function place(): string {
  let numbering = "";
  try {
    numbering = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has several.
  }
  return `${hostname()} ${numbering}`;
}

function peersOf(ranks: Communicator): Peer[] {
  const { rank, size } = ranks;
  const own = new Uint8Array(PEER_BYTES);
  new TextEncoder().encodeInto(`${process.pid} ${place()}\n`, own);
  const all = ranks.allgather(own, new Array<number>(size).fill(PEER_BYTES));
  const ranked = Array.from({ length: size }, (_, each) => {
    const text = new TextDecoder().decode(all.subarray(each * PEER_BYTES, (each + 1) * PEER_BYTES));
    const [pid, ...where] = text.split(" ");
    return { rank: each, pid: Number(pid), where: where.join(" ") };
  });
  return ranked.filter((each) => each.rank !== rank && each.where === ranked[rank].where);
}

function goneAmong(peers: readonly Peer[]): Peer | undefined {
  return peers.find(({ pid }) => {
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as { code?: string }).code === "ESRCH";
    }
  });
}

class Mpi implements Communicator {
  readonly rank: number;
  readonly size: number;
  readonly #library: Library;
  readonly #request = bytes(STATUS_BYTES);
  readonly #status = bytes(STATUS_BYTES);
  readonly #done = wholes(1);
  /** Bytes to send; lengths and places of those that come, by rank. */
  #sent = bytes(0);
  readonly #counts: Int32Array;
  readonly #starts: Int32Array;
  #peers: Peer[] = [];
  /** Nobody wakes it: to wait for it is to sleep. */
  readonly #sleep = new Int32Array(new SharedArrayBuffer(4));

  constructor(library: Library) {
    this.#library = library;
    this.#call("MPI_Init", null, null);
    const number = wholes(1);
    this.#call("MPI_Comm_rank", library.world, number);
    this.rank = number[0];
    this.#call("MPI_Comm_size", library.world, number);
    this.size = number[0];
    this.#counts = wholes(this.size);
    this.#starts = wholes(this.size);
    this.#peers = peersOf(this);
  }

  #call(name: Name, ...args: unknown[]): void {
    const status = this.#library.call(name, ...args);
    if (status !== 0) throw new Error(`found status ${status} of ${name}, expected 0`);
  }

  allgather(own: Uint8Array, lengths: readonly number[]): Uint8Array {
    const { world, byte } = this.#library;
    let total = 0;
    for (const [rank, length] of lengths.entries()) {
      this.#counts[rank] = length;
      this.#starts[rank] = total;
      total += length;
    }
    if (this.#sent.length < own.length) this.#sent = bytes(own.length);
    this.#sent.set(own);
    const all = bytes(total);
    const [sent, counts, starts] = [this.#sent, this.#counts, this.#starts];
    this.#call("MPI_Iallgatherv", sent, own.length, byte, all, counts, starts, byte, world, this.#request);
    this.#wait();
    return all;
  }

  #wait(): void {
    const begin = performance.now();
    let looked = begin;
    for (;;) {
      this.#call("MPI_Test", this.#request, this.#done, this.#status);
      if (this.#done[0] !== 0) return;
      const now = performance.now();
      if (now - begin > EAGER) Atomics.wait(this.#sleep, 0, 0, PAUSE);
      if (now - looked < LOOK) continue;
      looked = now;
      const gone = goneAmong(this.#peers);
      if (gone)
        throw new Error(
          `found that rank ${gone.rank} of ${this.size} has ended, expected it to go on to the end: --resume goes on from the last checkpoint`,
        );
    }
  }

  close(): void {
    this.#call("MPI_Ibarrier", this.#library.world, this.#request);
    this.#wait();
    this.#call("MPI_Finalize");
  }

  abort(status: number): void {
    this.#library.call("MPI_Abort", this.#library.world, status);
  }
}

/** Joins the other processes of a launcher; `library` is where the library is, if not in its usual place. */
export async function joinRanks({ size, openMpi }: Launched, library?: string): Promise<Communicator> {
  // UCX, on which Debian's MPICH stands, hooks the functions that map memory, which is known to crash programs with threads
  // (github.com/openucx/ucx/issues/3831). Of some 145 runs with the hooks four crashed in V8's collection of garbage, of 115
  // without none: likely the cause, not proven. Nothing here needs them.
  process.env.UCX_MEM_EVENTS ??= "n";
  const ranks = new Mpi(await loadLibrary(openMpi, library));
  if (ranks.size !== size)
    throw new Error(
      `found ${ranks.size} ranks where the launcher says ${size}, expected the library of MPI that belongs to it (its path in MLGPF_MPI_LIBRARY)`,
    );
  return ranks;
}
