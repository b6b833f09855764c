// Programs of Debian that tests run: found, or installed where that is allowed, or else named with the command to type.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";

export interface Wanted {
  /** What a person calls it. */
  name: string;
  /** Any of these is enough. */
  paths: (string | undefined)[];
  packages: string;
  /** What else would do, for the sentence that asks for it. */
  otherwise?: string;
}

/** What the steps `slurm` and `mpi` start. */
export const engines: Wanted[] = [
  { name: "Slurm", paths: ["/usr/sbin/slurmctld"], packages: "slurm-wlm" },
  { name: "MPICH", paths: ["/usr/bin/mpiexec.mpich"], packages: "mpich" },
];

/** Path of the program; ends this process with the command to run where there is none and none can be installed. */
export function ensureProgram({ name, paths, packages, otherwise = "" }: Wanted): string {
  const found = (): string | undefined => paths.find((path) => path !== undefined && existsSync(path));
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages}`;
  if (found() === undefined) install(name, command);
  const path = found();
  if (path !== undefined) return path;
  console.error(`These tests need ${name}. Install it with\n\n  sudo sh -c '${command}'\n\n${otherwise}`);
  process.exit(1);
}

function install(name: string, command: string): void {
  const maySudo = process.getuid?.() !== 0 && spawnSync("sudo", ["-n", "true"]).status === 0;
  if (!existsSync("/usr/bin/apt-get") || !(process.getuid?.() === 0 || maySudo)) return;
  console.log(`${name} is missing: installing Debian's package`);
  spawnSync("sh", ["-c", maySudo ? `sudo sh -c '${command}'` : command], {
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
