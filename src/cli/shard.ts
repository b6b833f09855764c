// Which part of the work is this process's own: --shard I/N, or what the scheduler that started it says.

import process from "node:process";
import type { Shard } from "../train/plan.ts";
import { type Flag, UsageError } from "./flags.ts";

export const shardFlag = (help: string): Flag => ({ kind: "text", value: "I/N", help });

/** Where schedulers say it: the number of the task, the first number, and how many there are. */
const schedulers = [
  { index: "SLURM_ARRAY_TASK_ID", first: "SLURM_ARRAY_TASK_MIN", count: "SLURM_ARRAY_TASK_COUNT" },
  { index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE" },
  // Kubernetes has no variable for the number of completions: --shard auto/N says it.
  { index: "JOB_COMPLETION_INDEX" },
] as const satisfies { index: string; first?: string; count?: string }[];

type Environment = Readonly<Record<string, string | undefined>>;

/** I/N, auto (both from the scheduler) or auto/N. */
export function shardOf(text: string, environment: Environment = process.env): Shard {
  const [, place, of] = /^(\d+|auto)(?:\/(\d+))?$/.exec(text) ?? [];
  const refuse = (found: string): never => {
    throw new UsageError(`--shard: found ${found}, expected I/N with I from 1 to N, auto or auto/N`);
  };
  const shard = place === "auto" ? scheduled(of, environment) : { index: Number(place), count: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.count)) refuse(text === "auto" ? said(shard) : text);
  return shard;
}

const said = ({ index, count }: Shard): string => `${index}/${count} from the scheduler`;

function scheduled(of: string | undefined, environment: Environment): Shard {
  const scheduler: { index: string; first?: string; count?: string } | undefined = schedulers.find(
    ({ index }) => environment[index] !== undefined,
  );
  if (scheduler === undefined) {
    const names = schedulers.map(({ index }) => index).join(", ");
    throw new UsageError(`--shard auto: found none of ${names}, expected one in the environment`);
  }
  const number = (name: string | undefined): number | undefined =>
    name === undefined || environment[name] === undefined ? undefined : Number(environment[name]);
  const count = of === undefined ? number(scheduler.count) : Number(of);
  if (count === undefined)
    throw new UsageError(
      `--shard auto: found ${scheduler.index} but not how many there are, expected auto/N`,
    );
  // Where the first number is not said, tasks are counted from 0.
  return { index: (number(scheduler.index) as number) - (number(scheduler.first) ?? 0) + 1, count };
}
