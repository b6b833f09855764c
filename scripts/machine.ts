// Programs that npm ci does not bring and that some tests run: found, or installed with --install, or named in one sentence.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";

export interface Wanted {
  /** Its name for people. */
  name: string;
  isThere(): boolean;
  /** Debian's packages that have it. */
  packages?: string[];
  /** Those of Debian 12 are too old: its backports have it. */
  newer?: boolean;
  /** A command that brings what is in no such package; it needs no rights. */
  command?: string;
}

export const slurm: Wanted = {
  name: "Slurm",
  isThere: () => existsSync("/usr/sbin/slurmctld"),
  packages: ["slurm-wlm"],
};

export const mpich: Wanted = {
  name: "MPICH",
  isThere: () => existsSync("/usr/bin/mpiexec.mpich"),
  packages: ["mpich"],
};

export const openMpi: Wanted = {
  name: "Open MPI",
  isThere: () => existsSync("/usr/bin/mpiexec.openmpi"),
  packages: ["openmpi-bin"],
};

/** The first Python that has numpy. */
export const pythonPath = (): string | undefined =>
  ["python3", "/usr/bin/python3"].find(
    (program) => spawnSync(program, ["-c", "import numpy"], { stdio: "ignore" }).status === 0,
  );

export const numpy: Wanted = {
  name: "Python with numpy",
  isThere: () => pythonPath() !== undefined,
  packages: ["python3-numpy"],
};

const NEWEST_NODE = "26.10.0";
const newestFolder = resolve("node_modules/.cache/mlgpf/node");
const newestPackage = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
export const newestNodePath: string = `${newestFolder}/node_modules/${newestPackage}/bin/node`;

/** As a devDependency npm would link it as `node`, before the Node of the person who types. */
export const newestNode: Wanted = {
  name: `Node ${NEWEST_NODE}`,
  isThere: () => spawnSync(newestNodePath, ["--version"], { encoding: "utf8" }).stdout?.trim() === `v${NEWEST_NODE}`,
  command: `npm install --no-save --ignore-scripts --prefix ${newestFolder} ${newestPackage}@${NEWEST_NODE}`,
};

const DRIVERS = "/usr/share/vulkan/icd.d";
/** The driver file of Mesa's software GPU. */
export function lavapipePath(): string | undefined {
  const name = existsSync(DRIVERS) && readdirSync(DRIVERS).find((each) => each.startsWith("lvp_icd"));
  return name ? `${DRIVERS}/${name}` : undefined;
}

export const lavapipe: Wanted = {
  name: "lavapipe 23 or later",
  // Dawn takes no older one.
  isThere: () => lavapipePath() !== undefined && versionOf("mesa-vulkan-drivers") >= 23,
  packages: ["mesa-vulkan-drivers"],
  newer: true,
};

const versionOf = (name: string): number =>
  Number.parseInt(spawnSync("dpkg-query", ["-W", "-f", "$" + "{Version}", name], { encoding: "utf8" }).stdout, 10);

const isRoot = (): boolean => process.getuid?.() === 0;

/** The shell command that installs Debian's packages. */
function debianCommand(wanted: Wanted[]): string {
  const install = "apt-get install -y --no-install-recommends";
  const names = (some: Wanted[]): string => some.flatMap(({ packages = [] }) => packages).join(" ");
  const isOld = existsSync("/etc/os-release") && /bookworm/.test(readFileSync("/etc/os-release", "utf8"));
  const newer = isOld ? wanted.filter((each) => each.newer) : [];
  const usual = wanted.filter((each) => !newer.includes(each));
  const list = "/etc/apt/sources.list.d/mlgpf-backports.list";
  // Backports come from the mirror that this machine has for bookworm itself.
  const mirror = "apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 == \"bookworm\" {print $1; exit}'";
  const backports = [
    `echo "deb $(${mirror}) bookworm-backports main" > ${list}`,
    "apt-get update",
    `${install} -t bookworm-backports ${names(newer)}`,
    `rm ${list}`,
  ];
  return [
    "apt-get update",
    ...(usual.length > 0 ? [`${install} ${names(usual)}`] : []),
    ...(newer.length > 0 ? backports : []),
  ].join(" && ");
}

/**
 * Ends this process with one sentence where something is missing. With `install` it is installed first: from npm, and from
 * Debian's packages where that is allowed.
 */
export function ensure(wanted: Wanted[], install: boolean): void {
  const missing = (): Wanted[] => [...new Set(wanted)].filter(({ isThere }) => !isThere());
  const debian = missing().filter(({ packages }) => packages !== undefined);
  const commands = missing().flatMap(({ command }) => command ?? []);
  if (debian.length > 0) {
    const command = debianCommand(debian);
    commands.unshift(isRoot() ? command : `sudo sh -c '${command.replaceAll("'", "'\\''")}'`);
  }
  if (install)
    for (const command of commands) {
      console.log(command);
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
      spawnSync("sh", ["-c", command], { stdio: "inherit", env });
    }
  const left = missing().map(({ name }) => name);
  if (left.length === 0) return;
  const how = install ? "and installing failed" : "add --install to install it, or run";
  console.error(`found no ${left.join(", no ")} for these tests, ${how}: ${commands.join(" && ")}`);
  process.exit(1);
}
