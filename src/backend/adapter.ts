// Finding a GPU: `navigator.gpu` in browsers, workers and Deno; in Node the optional package `webgpu`.

/** Kept outside the import: bundlers must not look for a package that is optional. */
const NODE_PACKAGE = { name: "webgpu" };

/** The reason why there is no GPU, in words that end a sentence. */
export class NoGpu {
  constructor(readonly why: string) {}
}

interface Host {
  navigator?: { gpu?: GPU };
  process?: { versions?: { node?: string; bun?: string } };
  Deno?: unknown;
}

/** Node's GPU object; Dawn stops working when it is collected, so it is kept. */
let nodeGpu: Promise<GPU | NoGpu> | undefined;

async function loadNodeGpu(): Promise<GPU | NoGpu> {
  try {
    const { create } = (await import(/* @vite-ignore */ NODE_PACKAGE.name)) as {
      create(flags: string[]): GPU;
    };
    return create([]);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    const first = message.split("\n")[0];
    return new NoGpu(
      missing
        ? "the package webgpu is not installed (npm install webgpu)"
        : `the package webgpu does not load (${first})`,
    );
  }
}

async function findGpu(): Promise<GPU | NoGpu> {
  const host = globalThis as unknown as Host;
  if (host.navigator?.gpu) return host.navigator.gpu;
  if (host.process?.versions?.node && !host.Deno) {
    nodeGpu ??= loadNodeGpu();
    return await nodeGpu;
  }
  return new NoGpu("this runtime has no WebGPU");
}

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

export interface FoundAdapter {
  adapter: GPUAdapter;
  name: string;
  /** Computes on the CPU, many times slower than WASM does. */
  software: boolean;
}

export async function findAdapter(): Promise<FoundAdapter | NoGpu> {
  const gpu = await findGpu();
  if (gpu instanceof NoGpu) return gpu;
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return new NoGpu("no GPU was found");
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  const words = [vendor, architecture, device, description].filter((word) => word !== "");
  return {
    adapter,
    name: description || words.join(" ") || "a GPU without a name",
    software: isFallbackAdapter === true || SOFTWARE.test(words.join(" ")),
  };
}

/** A device with room for large matrices. */
export async function requestDevice({ adapter }: FoundAdapter): Promise<GPUDevice> {
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
}
