// The wide build: the same bytes as the narrow ones in optimised code, and never used where its tile is wrong or not fused.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import * as asc from "assemblyscript/asc";
import { expect, test } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { mayBeWide, probeWide } from "../../src/core/wide.ts";
import { expectedDigest } from "../support/digest.ts";

const ENTRY = `import { probeTile } from "../assembly/gemm";
export { heapBase } from "../assembly/parallel";
export function probeTile_f32(wide: bool, a: usize, b: usize, depth: i32, c: usize): void { probeTile<f32>(wide, a, b, depth, c); }
export function probeTile_f64(wide: bool, a: usize, b: usize, depth: i32, c: usize): void { probeTile<f64>(wide, a, b, depth, c); }`;

/** The probe of the wide build, with its source as `change` leaves it. */
async function probeOf(change: (source: string) => string): Promise<WebAssembly.Module> {
  let binary: Uint8Array | undefined;
  const read = (name: string): string | null => {
    if (name === "build/probe.ts") return ENTRY;
    if (!/^assembly\/\w+\.ts$/.test(name)) return null;
    const text = readFileSync(name, "utf8");
    return name === "assembly/gemm.ts" ? change(text) : text;
  };
  const flags =
    "-O3 --noAssert --runtime stub --enable simd,threads --importMemory --sharedMemory --use WIDE=1 -o out.wasm";
  const memory = "--initialMemory 16 --maximumMemory 65536";
  const { error, stderr } = await asc.main(["build/probe.ts", ...`${flags} ${memory}`.split(" ")], {
    readFile: read,
    writeFile: (name: string, contents: unknown) => {
      if (name === "out.wasm") binary = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error || !binary) throw error ?? new Error(stderr.toString());
  return await WebAssembly.compile(binary as Uint8Array<ArrayBuffer>);
}

test("a tile that computes other bits is refused", async () => {
  const line = "c23 = multiplyAdd<T>(a2, b3, c23);";
  for (const fault of ["c23 = multiplyAdd<T>(a2, b2, c23);", "c23 = multiplyAdd<T>(c23, b3, a2);"]) {
    const module = await probeOf((source) => {
      expect(source.split(line)).toHaveLength(2);
      return source.replace(line, fault);
    });
    expect(await probeWide(module)).toBe("the wide kernel gives other bits than the narrow one");
  }
  const right = await probeWide(await probeOf((source) => source));
  expect([undefined, "they are not faster here"]).toContain(right);
});

test("a core that was asked for it says what became of it", async () => {
  for (const threads of [1, 2]) {
    const core = await createCore({ threads, wide: true });
    expect(core.threads).toBe(threads);
    expect(core.wideReason).toMatch(core.wide ? /^256-bit vectors$/ : /^no 256-bit vectors: /);
    expect(core.wide && !mayBeWide()).toBe(false);
    core.dispose();
  }
  const plain = await createCore({ threads: 1 });
  expect(plain.wideReason).toBe(undefined);
  plain.dispose();
});

/** Without Liftoff every kernel runs as the optimising compiler made it, which is where vectors are fused. */
test("gives the recorded digest, all kernels optimised", () => {
  const args = ["--no-liftoff", "scripts/ts.mjs", "test/support/widedigest.ts"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const wide = mayBeWide() && /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
  const lines = stdout.trim().split("\n");
  expect(lines, stderr).toHaveLength(2);
  for (const [i, line] of lines.entries())
    expect(JSON.parse(line)).toEqual({ threads: i + 1, wide, digest: expectedDigest });
});
