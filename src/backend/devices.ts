// Devices: WASM, or a GPU. Chosen by name or found, checked before it is used, watched while it is.

import { ArgumentError } from "../base/errors.ts";
import type { Core, Precision } from "../core/core.ts";
import { findAdapter, NoGpu, requestDevice } from "./adapter.ts";
import type { Backend } from "./backend.ts";
import { wasmBackend } from "./wasm.ts";

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
  /** Why the device is gone, if it is. Waits for a moment: work on a lost device fails before the loss is known. */
  whenLost(): Promise<string | undefined>;
  /** Throws if the device is lost or has refused some work: whatever was read since the last time is not to be used. */
  check(): void;
  /** Frees the backend, and the device unless it was given. */
  dispose(): void;
}

/** How long the news of a loss may take, in milliseconds. */
const LOSS_NOTICE = 250;

export async function openDevice(core: Core, choice: DeviceChoice, precision: Precision): Promise<OpenDevice> {
  if (choice === "wasm") return wasmDevice(core, precision, "WASM");
  if (choice === "auto") return await gpuOrWasm(core, precision, false);
  if (choice !== "webgpu" && !(typeof choice === "object" && choice !== null && "queue" in choice))
    throw new ArgumentError("device", `found ${choice}, expected auto, wasm, webgpu or a GPUDevice`);
  if (precision === "f64")
    throw new ArgumentError(
      "device",
      "found a GPU with the precision f64, expected wasm (a GPU computes in single precision)",
    );
  if (choice !== "webgpu") return await gpuDevice(core, choice, "the GPU given", false);
  const found = await findAdapter();
  if (found instanceof NoGpu) throw new ArgumentError("device", `found no GPU, expected one for webgpu: ${found.why}`);
  return await gpuDevice(core, await requestDevice(found), found.name, true);
}

/** Another device for work that has lost its own: again a GPU if there is one and it is worth trying, else WASM. */
export async function replaceDevice(
  core: Core,
  choice: DeviceChoice,
  precision: Precision,
  tryGpu: boolean,
): Promise<OpenDevice> {
  if (!tryGpu) return wasmDevice(core, precision, "WASM (the GPU was lost too often)");
  return await gpuOrWasm(core, precision, choice !== "auto");
}

/** A GPU, or WASM and why; a GPU in software only where it is asked for. */
async function gpuOrWasm(core: Core, precision: Precision, softwareToo: boolean): Promise<OpenDevice> {
  const instead = (why: string): OpenDevice => wasmDevice(core, precision, `WASM (${why})`);
  if (precision === "f64") return instead("a GPU computes in single precision");
  try {
    const found = await findAdapter();
    if (found instanceof NoGpu) return instead(found.why);
    if (found.software && !softwareToo) return instead(`${found.name} is no hardware`);
    return await gpuDevice(core, await requestDevice(found), found.name, true);
  } catch (error) {
    return instead((error as Error).message);
  }
}

function wasmDevice(core: Core, precision: Precision, about: string): OpenDevice {
  const backend = wasmBackend(core, precision);
  return {
    backend,
    about,
    largestTensor: Number.POSITIVE_INFINITY,
    whenLost: async () => undefined,
    check() {},
    dispose: () => backend.dispose(),
  };
}

/** Outcome of the check of each device: once is enough. */
const checked = new WeakMap<GPUDevice, Promise<void>>();

async function gpuDevice(core: Core, device: GPUDevice, name: string, own: boolean): Promise<OpenDevice> {
  const watch = watchDevice(device);
  // The GPU's code is loaded here and nowhere else: who does not ask for a GPU does not get it.
  const [{ webGpuBackend }, { checkShaders }] = await Promise.all([
    import("./webgpu/backend.ts"),
    import("./webgpu/check.ts"),
  ]);
  let made: Backend | undefined;
  const dispose = (): void => {
    made?.dispose();
    watch.end();
    if (own) device.destroy();
  };
  try {
    const backend = await webGpuBackend(device);
    made = backend;
    if (!checked.has(device)) checked.set(device, checkShaders(backend, wasmBackend(core, "f32")));
    await checked.get(device);
    watch.check();
    return {
      backend,
      about: `GPU (${name})`,
      largestTensor: Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize),
      ...watch,
      dispose,
    };
  } catch (error) {
    const lost = await watch.whenLost();
    dispose();
    if (lost !== undefined)
      throw new ArgumentError("device", `found a GPU that is lost (${lost}), expected one that works`);
    throw new ArgumentError("device", `found ${name}, which cannot be used: ${(error as Error).message}`);
  }
}

/** Listens for the device's loss and for work it refuses, until end(). */
function watchDevice(device: GPUDevice): Pick<OpenDevice, "whenLost" | "check"> & { end(): void } {
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
    async whenLost() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const notice = new Promise<void>((done) => {
        timer = setTimeout(done, LOSS_NOTICE);
      });
      await Promise.race([loss, notice]);
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
