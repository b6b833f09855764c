// Packs the built package as npm would publish it, and installs it into an empty project without a network.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

export interface Packed {
  /** Path of the tarball. */
  file: string;
  /** Bytes of the tarball, and of its contents. */
  bytes: number;
  unpackedBytes: number;
  /** Paths in it. */
  files: string[];
}

/** The output of a program, run in a folder as a person would run it. An error where it failed. */
export function execute(
  command: string,
  args: string[],
  cwd: string = process.cwd(),
  more: Record<string, string> = {},
): Promise<{ out: string; err: string }> {
  // A test runner's NODE_ENV makes Vite keep its warnings to itself.
  const env = { ...process.env, NO_COLOR: "1", NODE_ENV: undefined, ...more };
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) =>
      code === 0
        ? done({ out, err })
        : fail(new Error(`${command} ${args.join(" ")}: found code ${code}, expected 0:\n${out}${err}`)),
    );
  });
}

export const printed = async (command: string, args: string[], cwd?: string): Promise<string> =>
  (await execute(command, args, cwd)).out;

/** Packs what is in dist/ now, into a folder. Nothing is built. */
export async function pack(folder: string): Promise<Packed> {
  mkdirSync(folder, { recursive: true });
  const output = await printed("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]);
  const [{ filename, size, unpackedSize, files }] = JSON.parse(output);
  return {
    file: join(folder, filename),
    bytes: size,
    unpackedBytes: unpackedSize,
    files: files.map(({ path }: { path: string }) => path),
  };
}

/** Makes an empty project that has the packed package and nothing else; gives what npm said. */
export async function install(packed: Packed, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const { out, err } = await execute("npm", ["install", "--offline", "--no-audit", "--no-fund", packed.file], folder);
  return out + err;
}

/** The package's own description. */
export function manifest(folder: string): {
  version: string;
  engines: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  bin: Record<string, string>;
  scripts: Record<string, string>;
} {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
