// The cores every kernel is tested on, in whatever runtime the tests run.

import { type Core, createCore, hasRelaxedSimd, type Precision } from "../../src/core/index.ts";
import { mayBeWide } from "../../src/core/wide.ts";

export interface CoreKind {
  name: string;
  create(): Promise<Core>;
}

const kinds: CoreKind[] = [
  { name: "one thread", create: () => createCore({ threads: 1 }) },
  { name: "two threads", create: () => createCore({ threads: 2 }) },
];
if (hasRelaxedSimd()) kinds.push({ name: "relaxed SIMD", create: () => createCore({ threads: 1, relaxed: true }) });

if (mayBeWide()) {
  kinds.push({ name: "wide, one thread", create: () => createCore({ threads: 1, wide: true }) });
  kinds.push({ name: "wide, two threads", create: () => createCore({ threads: 2, wide: true }) });
}

export const coreKinds: readonly CoreKind[] = kinds;
export const precisions: readonly Precision[] = ["f32", "f64"];

/** Unit roundoff times two: the distance from 1 to the next number. */
export const epsilon: Record<Precision, number> = { f32: 2 ** -23, f64: 2 ** -52 };

/** Runs a test body with a core of that kind, and fails if the body leaves memory behind. */
export async function withCore(kind: CoreKind, body: (core: Core) => void | Promise<void>): Promise<void> {
  const core = await kind.create();
  try {
    const before = core.arena.used;
    await body(core);
    if (core.arena.used !== before) throw new Error(`${core.arena.used - before} bytes were not freed`);
  } finally {
    core.dispose();
  }
}
