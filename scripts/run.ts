// Starts other programs: several at a time, their output held back unless they fail.

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

export interface Job {
  name: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
}

export interface Outcome {
  status: number;
  output: string;
}

const onWindows = process.platform === "win32";

/** A program that npm installed here. */
export const bin = (name: string): string => join("node_modules", ".bin", onWindows ? `${name}.cmd` : name);

/** Runs one program to its end. */
export function run(job: Job): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(job.command, job.args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...job.env },
      // Windows starts npm's programs through a shell alone.
      shell: job.command.endsWith(".cmd"),
    });
    let output = "";
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ status: 127, output: `${output}${error.message}\n` }));
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

/** Runs all jobs, `atOnce` at a time; the first that fails ends this process with its output. */
export async function runAll(jobs: Job[], atOnce: number): Promise<void> {
  const queue = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const { status, output } = await run(job);
      if (status !== 0) {
        process.stderr.write(`${job.name} failed:\n${output}`);
        process.exit(1);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, lane));
}
