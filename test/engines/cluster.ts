// A Slurm cluster of one node on this machine, with everything that is its own in one folder.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { freePort } from "../examples/support.ts";

const NODE = "node1";

/** No munge, no groups of processes: what a container or a user without rights can do. */
const configuration = (folder: string, controlPort: number, nodePort: number): string => `
ClusterName=mlgpf
SlurmctldHost=${hostname().split(".")[0]}(127.0.0.1)
SlurmUser=${userInfo().username}
SlurmdUser=${userInfo().username}
AuthType=auth/none
CredType=cred/none
# A job that is requeued waits until what it was started with has expired.
AuthInfo=cred_expire=5
SlurmctldPort=${controlPort}
SlurmdPort=${nodePort}
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
KillWait=2
MpiDefault=none
NodeName=${NODE} NodeHostname=${hostname().split(".")[0]} NodeAddr=127.0.0.1 CPUs=16 RealMemory=128000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;

/** Waits until something is so; the test's own limit ends what never comes. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 100));
}

export class Cluster {
  readonly #folder: string;
  readonly #daemons: ChildProcess[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** A cluster that takes jobs. */
  static async start(folder: string): Promise<Cluster> {
    mkdirSync(join(folder, "state"));
    mkdirSync(join(folder, "spool"));
    writeFileSync(join(folder, "slurm.conf"), configuration(folder, await freePort(), await freePort()));
    const cluster = new Cluster(folder);
    cluster.#daemon("slurmctld", "-D", "-c");
    cluster.#daemon("slurmd", "-D", "-N", NODE);
    try {
      await until(() => cluster.#isIdle());
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get environment(): Record<string, string | undefined> {
    return { ...process.env, SLURM_CONF: join(this.#folder, "slurm.conf") };
  }

  /** What a program of Slurm, or a script that calls them, says. */
  run(program: string, args: string[], environment: Record<string, string> = {}): string {
    const env = { ...this.environment, ...environment };
    return execFileSync(program, args, { env, cwd: this.#folder, encoding: "utf8" }).trim();
  }

  /** How a job, or each task of an array, ended; waits for it. */
  async ended(job: string): Promise<string[]> {
    let states: string[] = [];
    await until(() => {
      const told = this.run("scontrol", ["--oneliner", "show", "job", job]);
      states = [...told.matchAll(/ JobState=(\w+)/g)].map(([, state]) => state as string);
      return states.every((state) => !["PENDING", "RUNNING", "COMPLETING", "CONFIGURING"].includes(state));
    });
    return states;
  }

  /** What a job printed. */
  printed(job: string): string {
    return readFileSync(join(this.#folder, `slurm-${job}.out`), "utf8");
  }

  /** Ends what still runs, then the cluster. */
  async stop(): Promise<void> {
    try {
      this.run("scancel", ["--user", userInfo().username]);
      await until(() => this.run("squeue", ["--noheader"]) === "");
    } finally {
      await Promise.all(this.#daemons.map(ended));
    }
  }

  /** It dies with the test, even when that is killed. */
  #daemon(...command: string[]): void {
    const log = (name: string): string => join(this.#folder, `${name}.log`);
    const child = spawn("setpriv", ["--pdeathsig", "KILL", ...command, "-L", log(command[0])], {
      env: this.environment,
      stdio: "ignore",
    });
    child.on("error", () => {});
    this.#daemons.push(child);
  }

  #isIdle(): boolean {
    const dead = this.#daemons.find(({ exitCode }) => exitCode !== null);
    if (dead) throw new Error(`${dead.spawnargs.join(" ")} ended with status ${dead.exitCode}`);
    try {
      return this.run("sinfo", ["--noheader", "--format=%t"]) === "idle";
    } catch {
      return false; // not listening yet
    }
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.on("exit", () => done());
    child.kill("SIGTERM");
  });
}
