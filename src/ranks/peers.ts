// Ranks on the same machine as this one, and whether they still run. A launcher should end all ranks when one ends, but not
// all do (srun, unless it is told to), and a rank that waits for one that is gone would wait for ever.

import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import type { Communicator } from "./communicator.ts";

interface Peer {
  rank: number;
  pid: number;
}

/** Bytes in which a rank says where it is. */
const BYTES = 256;

/** The machine, and what numbers of processes mean on it: containers have their own. */
function place(): string {
  let numbering = "";
  try {
    numbering = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has several.
  }
  return `${hostname()} ${numbering}`;
}

/** The other ranks on this machine. */
export function peersOf(ranks: Communicator): Peer[] {
  const { rank, size } = ranks;
  const own = new Uint8Array(BYTES);
  new TextEncoder().encodeInto(`${process.pid} ${place()}\n`, own);
  const all = ranks.allgather(own, new Array<number>(size).fill(BYTES));
  const said = Array.from({ length: size }, (_, each) => {
    const [pid, ...where] = new TextDecoder()
      .decode(all.subarray(each * BYTES, (each + 1) * BYTES))
      .split(" ");
    return { rank: each, pid: Number(pid), where: where.join(" ") };
  });
  return said.filter((each) => each.rank !== rank && each.where === said[rank]?.where);
}

/** The first of these that runs no more. */
export function goneAmong(peers: readonly Peer[]): Peer | undefined {
  return peers.find(({ pid }) => {
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as { code?: string }).code === "ESRCH";
    }
  });
}
