// Threads over one shared memory: what each runtime can do, and the workers themselves.

/** The life of a worker: its own instance of the module over the shared memory, then the loop inside WASM. */
const WORKER_SOURCE = `
const begin = ({ module, memory, control, scratch, id, threads }, say) => {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.start(control, scratch, id, threads, 1);
  say();
  try {
    exports.work();
  } catch (error) {
    exports.abandon();
    throw error;
  }
};
`;
const NODE_WORKER = `${WORKER_SOURCE}
const { parentPort, workerData } = require("node:worker_threads");
begin(workerData, () => parentPort.postMessage("ready"));
`;
const WEB_WORKER = `${WORKER_SOURCE}
self.onmessage = (event) => begin(event.data, () => self.postMessage("ready"));
`;

/** The data of a worker at its start. */
export interface WorkerStart {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  control: number;
  scratch: number;
  id: number;
  threads: number;
}

export interface WorkerHandle {
  terminate(): void;
}

interface Host {
  process?: { versions?: { node?: string; bun?: string } };
  Deno?: unknown;
  navigator?: { hardwareConcurrency?: number };
}
const host = globalThis as Host;

export const isNode = (): boolean =>
  host.process?.versions?.node !== undefined && host.process.versions.bun === undefined && host.Deno === undefined;

/** How many threads the machine can run at once. */
export async function hardwareThreads(): Promise<number> {
  if (host.navigator?.hardwareConcurrency) return host.navigator.hardwareConcurrency;
  if (isNode()) return (await import("node:os")).availableParallelism();
  return 1;
}

/** Why this runtime cannot run threads, or undefined where it can. */
export function noThreadsReason(): string | undefined {
  if (typeof SharedArrayBuffer === "undefined")
    return "SharedArrayBuffer is missing (in a browser it needs the COOP and COEP headers)";
  if (!isNode() && typeof Worker === "undefined") return "this runtime has no workers";
  return undefined;
}

/** This thread may block; a page's main thread may not. */
export function mayBlock(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts one worker and resolves when it is waiting for work. */
export async function startWorker(data: WorkerStart): Promise<WorkerHandle> {
  return isNode() ? await startNodeWorker(data) : await startWebWorker(data);
}

async function startNodeWorker(data: WorkerStart): Promise<WorkerHandle> {
  const { Worker: NodeWorker } = await import("node:worker_threads");
  const worker = new NodeWorker(NODE_WORKER, { eval: true, workerData: data });
  await new Promise<void>((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("error", reject);
  });
  // A pool that nobody disposed of does not keep the program alive.
  worker.unref();
  return { terminate: () => void worker.terminate() };
}

async function startWebWorker(data: WorkerStart): Promise<WorkerHandle> {
  const url = URL.createObjectURL(new Blob([WEB_WORKER], { type: "text/javascript" }));
  try {
    const worker = new Worker(url, { type: "module" });
    await new Promise<void>((resolve, reject) => {
      worker.onmessage = () => resolve();
      worker.onerror = (event) => {
        event.preventDefault?.();
        reject(new Error(event.message || "the worker did not start"));
      };
      worker.postMessage(data);
    });
    (worker as { unref?: () => void }).unref?.();
    return { terminate: () => worker.terminate() };
  } finally {
    URL.revokeObjectURL(url);
  }
}
