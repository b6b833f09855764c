// What computes: WASM, or a GPU. Chosen by name or found, checked before it is used, watched while it is.

import type { Core, Precision } from "../core/core.ts";
import { ArgumentError } from "../core/errors.ts";
import { findAdapter, NoGpu, requestDevice } from "./adapter.ts";
import type { Backend } from "./backend.ts";
import { WasmBackend } from "./wasm.ts";

/**
 * `wasm`; `webgpu`, any GPU, an error where there is none; `auto`, a hardware GPU or else WASM; or a device of your own,
 * which is used and never destroyed.
 */
export type DeviceChoice = "auto" | "wasm" | "webgpu" | GPUDevice;

/** The GPU went away in the middle of the work. */
export class LostDeviceError extends Error {
  override name = "LostDeviceError";
}

/** A backend and what is known about the device under it. */
export interface OpenDevice {
  readonly backend: Backend;
  /** Which it is and, where there was a choice, why: "WASM (no GPU was found)". */
  readonly about: string;
  /** Most bytes that one tensor may have. */
  readonly largestTensor: number;
  /** Why the device is gone, once it is. */
  readonly lost: string | undefined;
  /** The same after waiting for a moment: work on a lost device fails before the loss is known. */
  lostSoon(): Promise<string | undefined>;
  /** Throws if the device is lost or has refused some work: whatever was read since the last time is not to be used. */
  check(): void;
  /** Frees the backend, and the device unless it was given. */
  dispose(): void;
}

/** How long the news of a loss may take, in milliseconds. */
const NEWS = 250;

export async function openDevice(
  core: Core,
  choice: DeviceChoice,
  precision: Precision,
): Promise<OpenDevice> {
  if (choice === "wasm") return wasmDevice(core, precision, "WASM");
  if (choice === "auto") return await automaticDevice(core, precision);
  if (choice !== "webgpu" && !(typeof choice === "object" && choice !== null && "queue" in choice))
    throw new ArgumentError("device", `found ${choice}, expected auto, wasm, webgpu or a GPUDevice`);
  if (precision === "f64") {
    throw new ArgumentError(
      "device",
      "found a GPU with the precision f64, expected wasm (a GPU computes in single precision)",
    );
  }
  if (choice !== "webgpu") return await gpuDevice(core, choice, "the GPU given", false);
  const opened = await namedDevice(core);
  if (opened instanceof NoGpu)
    throw new ArgumentError("device", `found no GPU, expected one for webgpu: ${opened.why}`);
  return opened;
}

/** Another device for work that has lost its own: again a GPU if there is one and it is worth trying, else WASM. */
export async function replaceDevice(
  core: Core,
  choice: DeviceChoice,
  precision: Precision,
  tryGpu: boolean,
): Promise<OpenDevice> {
  if (!tryGpu) return wasmDevice(core, precision, "WASM (the GPU was lost too often)");
  if (choice === "auto") return await automaticDevice(core, precision);
  try {
    const opened = await namedDevice(core);
    return opened instanceof NoGpu ? wasmDevice(core, precision, `WASM (${opened.why})`) : opened;
  } catch (error) {
    return wasmDevice(core, precision, `WASM (${(error as Error).message})`);
  }
}

async function namedDevice(core: Core): Promise<OpenDevice | NoGpu> {
  const found = await findAdapter();
  if (found instanceof NoGpu) return found;
  return await gpuDevice(core, await requestDevice(found), found.name, true);
}

async function automaticDevice(core: Core, precision: Precision): Promise<OpenDevice> {
  const instead = (why: string): OpenDevice => wasmDevice(core, precision, `WASM (${why})`);
  if (precision === "f64") return instead("a GPU computes in single precision");
  try {
    const found = await findAdapter();
    if (found instanceof NoGpu) return instead(found.why);
    if (found.software) return instead(`${found.name} is no hardware`);
    return await gpuDevice(core, await requestDevice(found), found.name, true);
  } catch (error) {
    return instead((error as Error).message);
  }
}

function wasmDevice(core: Core, precision: Precision, about: string): OpenDevice {
  const backend = new WasmBackend(core, precision);
  return {
    backend,
    about,
    largestTensor: Number.POSITIVE_INFINITY,
    lost: undefined,
    lostSoon: async () => undefined,
    check() {},
    dispose: () => backend.dispose(),
  };
}

/** Outcome of the check of each device: once is enough. */
const checked = new WeakMap<GPUDevice, Promise<void>>();

async function gpuDevice(core: Core, device: GPUDevice, name: string, own: boolean): Promise<OpenDevice> {
  const watch = watchDevice(device);
  // The GPU's code is loaded here and nowhere else: who does not ask for a GPU does not get it.
  const [{ WebGpuBackend }, { checkShaders }] = await Promise.all([
    import("./webgpu/backend.ts"),
    import("./webgpu/check.ts"),
  ]);
  let backend: Backend | undefined;
  const dispose = (): void => {
    backend?.dispose();
    watch.end();
    if (own) device.destroy();
  };
  try {
    const made = await WebGpuBackend.create(device);
    backend = made;
    if (!checked.has(device)) {
      const reference = new WasmBackend(core, "f32");
      checked.set(
        device,
        checkShaders(made, reference).finally(() => reference.dispose()),
      );
    }
    await checked.get(device);
    watch.check();
    return {
      backend: made,
      about: `GPU (${name})`,
      largestTensor: Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize),
      get lost() {
        return watch.lost;
      },
      lostSoon: watch.lostSoon,
      check: watch.check,
      dispose,
    };
  } catch (error) {
    const lost = await watch.lostSoon();
    dispose();
    if (lost !== undefined)
      throw new ArgumentError("device", `found a GPU that is lost (${lost}), expected one that works`);
    throw new ArgumentError("device", `found ${name}, which cannot be used: ${(error as Error).message}`);
  }
}

interface Watch {
  readonly lost: string | undefined;
  lostSoon(): Promise<string | undefined>;
  check(): void;
  end(): void;
}

/** Listens for the device's loss and for work it refuses. */
function watchDevice(device: GPUDevice): Watch {
  let lost: string | undefined;
  let refused: string | undefined;
  const loss = device.lost.then(({ reason, message }) => {
    lost = message || reason || "no reason was given";
  });
  const note = (event: Event): void => {
    refused ??= (event as GPUUncapturedErrorEvent).error.message.split("\n")[0];
  };
  device.addEventListener("uncapturederror", note);
  return {
    get lost() {
      return lost;
    },
    async lostSoon() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const news = new Promise<void>((done) => {
        timer = setTimeout(done, NEWS);
      });
      await Promise.race([loss, news]);
      clearTimeout(timer);
      return lost;
    },
    check() {
      if (lost !== undefined) throw new LostDeviceError(`the GPU was lost: ${lost}`);
      if (refused !== undefined) throw new Error(`the GPU refused some work: ${refused}`);
    },
    end: () => device.removeEventListener("uncapturederror", note),
  };
}
