// Starts other programs: several at a time, their output held back unless they fail.

import { spawn } from "node:child_process";

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

/** Runs one program to its end. With `show`, what it prints appears as it comes. */
export function run(job: Job, show = false): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(job.command, job.args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...job.env },
    });
    let output = "";
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (show) process.stdout.write(chunk);
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
