// A core: one instance of the WASM module with its memory, its threads and the kernels of both precisions.

import { wholeNumber } from "../base/check.ts";
import { OutOfMemoryError } from "../base/errors.ts";
import { compileBase64 } from "../base/wasm.ts";
import type { CommonKernels, PrecisionKernels } from "../generated/kernels.ts";
import { Arena } from "./arena.ts";
import { hardwareThreads, mayBlock, noThreadsReason, startWorker, type WorkerHandle } from "./threads.ts";
import { type Wide, wideByEnvironment, wideModule } from "./wide.ts";

/** Single or double. */
export type Precision = "f32" | "f64";

/** How a core computes. */
export interface CoreOptions {
  /** Threads to compute on; "auto" takes one for each of the machine's, up to 8. Results do not depend on it. */
  threads?: number | "auto";
  /** Fused multiply-add where the runtime has it: faster, but bytes may differ between kinds of CPU. */
  relaxed?: boolean;
  /**
   * Vectors of 256 bits where V8 can (Node 24 and later, x64): faster, the same bytes. Sets the flag --experimental-wasm-revectorize of
   * the whole process. Without it: as the environment's MLGPF_WIDE (1) says.
   */
  wide?: boolean;
  /** Most memory to use, in bytes (at most 4 GiB). */
  maximumMemory?: number;
  /** The compiled plain module, for runtimes that may not compile from bytes. Runs on one thread. */
  module?: WebAssembly.Module;
}

type Exports = Record<string, (...values: unknown[]) => unknown> & { memory: WebAssembly.Memory };

const PAGE = 65536;
const FOUR_GIB = 2 ** 32;
const MOST_AUTOMATIC_THREADS = 8;

const variants = {
  plain: () => import("../generated/core.ts"),
  threads: () => import("../generated/core-threads.ts"),
  relaxed: () => import("../generated/core-relaxed.ts"),
  threadsRelaxed: () => import("../generated/core-threads-relaxed.ts"),
};

/** (module (func (result v128) three zeros, f32x4.relaxed_madd)): valid just where relaxed SIMD exists. */
const RELAXED_PROBE = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65,
  0, 253, 15, 253, 133, 2, 11,
];

/** This runtime has relaxed SIMD. */
export function hasRelaxedSimd(): boolean {
  return WebAssembly.validate(new Uint8Array(RELAXED_PROBE));
}

/** Memory shared between threads must name its greatest size; hosts differ in what they grant. */
function sharedMemory(maximumBytes: number): { memory: WebAssembly.Memory; granted: number } {
  const most = Math.floor(maximumBytes / PAGE);
  for (let maximum = most; ; maximum = Math.floor(maximum / 2)) {
    try {
      const memory = new WebAssembly.Memory({ initial: 64, maximum, shared: true });
      return { memory, granted: maximum * PAGE };
    } catch (error) {
      if (maximum <= 4096) throw error;
    }
  }
}

/** The exports whose names end in `_suffix`, without that ending. */
function ofPrecision(exports: Exports, suffix: Precision): PrecisionKernels {
  const found = Object.entries(exports).filter(([name]) => name.endsWith(`_${suffix}`));
  return Object.fromEntries(found.map(([name, kernel]) => [name.slice(0, -4), kernel])) as unknown as PrecisionKernels;
}

/** Made by createCore. Matrices belong to the core they were made in. */
export class Core {
  readonly kernels: CommonKernels & Record<Precision, PrecisionKernels>;
  readonly #workers: WorkerHandle[] = [];
  #disposed = false;

  constructor(
    exports: Exports,
    readonly memory: WebAssembly.Memory,
    readonly arena: Arena,
    readonly threads: number,
    /** How the number of threads came about, in words. */
    readonly threadsReason: string,
    readonly relaxed: boolean,
    /** Says in words if it has vectors of 256 bits, where they were asked for. */
    readonly wideReason?: string,
    readonly wide: boolean = false,
  ) {
    const common = exports as unknown as CommonKernels;
    this.kernels = { ...common, f32: ofPrecision(exports, "f32"), f64: ofPrecision(exports, "f64") };
  }

  /** It was disposed of: there is nothing in its memory any more. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Kept so that dispose can end it. */
  adopt(worker: WorkerHandle): void {
    this.#workers.push(worker);
  }

  /** Ends the threads. Whatever was allocated here is gone with it. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (this.#workers.length > 0) this.kernels.stop();
    for (const worker of this.#workers) worker.terminate();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Starts a numeric core. Dispose of it when done: its threads live until then. */
export async function createCore(options: CoreOptions = {}): Promise<Core> {
  const maximumMemory = wholeNumber("maximumMemory", options.maximumMemory ?? FOUR_GIB, 2 ** 24, FOUR_GIB);
  const { threads, reason } = await chooseThreads(options);
  const relaxed = options.relaxed === true && options.module === undefined && hasRelaxedSimd();
  const asked = (options.wide ?? wideByEnvironment()) && !relaxed && options.module === undefined;
  const wide = asked ? await wideModule() : undefined;
  const start: Start = { threads, reason, relaxed, wide, maximumMemory };
  if (threads === 1 && !wide?.module) return await createPlain(start, options.module);
  try {
    return await createThreaded(start);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    start.reason = `one thread: workers could not be started (${why})`;
    return await createPlain(start, options.module);
  }
}

interface Start {
  threads: number;
  reason: string;
  relaxed: boolean;
  wide: Wide | undefined;
  maximumMemory: number;
}

async function chooseThreads(options: CoreOptions): Promise<{ threads: number; reason: string }> {
  const asked = options.threads ?? "auto";
  if (asked !== "auto") wholeNumber("threads", asked, 1, 256);
  if (asked === 1) return { threads: 1, reason: "one thread, as asked" };
  if (options.module !== undefined) return { threads: 1, reason: "one thread: a compiled module was passed in" };
  const missing = noThreadsReason();
  if (missing !== undefined) return { threads: 1, reason: `one thread: ${missing}` };
  if (asked !== "auto") return { threads: asked, reason: `${asked} threads, as asked` };
  const threads = Math.min(await hardwareThreads(), MOST_AUTOMATIC_THREADS);
  return { threads, reason: `Using ${threads} threads (one per core)` };
}

async function createPlain(
  { reason, relaxed, wide, maximumMemory }: Start,
  module?: WebAssembly.Module,
): Promise<Core> {
  const compiled = module ?? (await compileBase64((await (relaxed ? variants.relaxed : variants.plain)()).base64));
  const instance = await WebAssembly.instantiate(compiled, {}).catch(inWords);
  const exports = instance.exports as Exports;
  const { arena } = layOut(exports, exports.memory, 1, maximumMemory);
  return new Core(exports, exports.memory, arena, 1, reason, relaxed, wide?.reason);
}

/** An engine that gets no memory says so in words of its own. */
function inWords(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new OutOfMemoryError(
    PAGE,
    "found no memory for a core, expected some: lift the limit on virtual memory (ulimit -v), of which WebAssembly reserves 12 GB",
  );
}

async function createThreaded({ threads, reason, relaxed, wide, maximumMemory }: Start): Promise<Core> {
  const narrow = relaxed ? variants.threadsRelaxed : variants.threads;
  const module = wide?.module ?? (await compileBase64((await narrow()).base64));
  const { memory, granted } = sharedMemory(maximumMemory);
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const exports = instance.exports as Exports;
  const { arena, control, scratch } = layOut(exports, memory, threads, granted);
  const core = new Core(exports, memory, arena, threads, reason, relaxed, wide?.reason, wide?.module !== undefined);
  try {
    const ids = Array.from({ length: threads - 1 }, (_, i) => i + 1);
    const data = { module, memory, control, scratch, threads };
    const started = await Promise.allSettled(ids.map((id) => startWorker({ ...data, id })));
    for (const outcome of started) if (outcome.status === "fulfilled") core.adopt(outcome.value);
    for (const outcome of started) if (outcome.status === "rejected") throw outcome.reason;
    return core;
  } catch (error) {
    core.dispose();
    throw error;
  }
}

/** Memory from the bottom: the module's tables, the control block, scratch for each thread, then the arena. */
function layOut(exports: Exports, memory: WebAssembly.Memory, threads: number, maximumMemory: number) {
  const kernels = exports as unknown as CommonKernels;
  const arena = new Arena(memory, kernels.heapBase(), maximumMemory);
  const control = arena.allocate(kernels.controlBytes(), "the control block");
  const scratch = arena.allocate(kernels.scratchBytes() * threads, "scratch memory of the threads");
  new Uint8Array(memory.buffer, control, kernels.controlBytes()).fill(0);
  kernels.start(control, scratch, 0, threads, threads > 1 && mayBlock());
  return { arena, control, scratch };
}
