// A command that mpiexec started several times: its processes join, and end together.

import process from "node:process";
import { alone, type Communicator } from "../ranks/communicator.ts";
import { joinRanks, launched } from "../ranks/mpi.ts";

/** What all ranks meet is said by the first of them, which then ends the others: each lets those before it speak so long. */
const SILENCE_MILLISECONDS = 1000;

/** Does the work with the other ranks, where a launcher has started some. */
export async function withRanks(work: (ranks: Communicator | undefined) => Promise<void>): Promise<void> {
  const launch = launched(process.env);
  if (launch === undefined) return await work(undefined);
  const ranks = launch.size === 1 ? alone : await joinRanks(launch, process.env.MLGPF_MPI_LIBRARY);
  try {
    await work(ranks);
  } catch (error) {
    // By then it has been said.
    process.once("exit", (status) => ranks.abort(status));
    if (ranks.rank === 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, ranks.rank * SILENCE_MILLISECONDS));
    (error as Error).message = `rank ${ranks.rank} of ${ranks.size}: ${(error as Error).message}`;
    throw error;
  }
  ranks.close();
  // What Open MPI leaves behind does not survive the end of Node.
  const { reallyExit } = process as unknown as { reallyExit?: (status: number) => never };
  if (launch.openMpi) process.once("exit", (status) => reallyExit?.(status));
}
