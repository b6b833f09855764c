// The memory of an instance of the module of mlgpf/edge, laid out once and by the caller.

const PAGE = 65536;

export class WasmMemory<Kernels> {
  readonly kernels: Kernels & { memory: WebAssembly.Memory; heapBase(): number };
  #next: number;

  constructor(module: WebAssembly.Module) {
    this.kernels = new WebAssembly.Instance(module, {}).exports as unknown as WasmMemory<Kernels>["kernels"];
    this.#next = this.kernels.heapBase();
  }

  reserve(bytes: number): number {
    const address = this.#next;
    this.#next = Math.ceil((address + bytes) / 16) * 16;
    return address;
  }

  /** The memory, with all that was reserved in it. */
  grown(): ArrayBuffer {
    const { memory } = this.kernels;
    const missing = Math.ceil((this.#next - memory.buffer.byteLength) / PAGE);
    if (missing > 0) memory.grow(missing);
    return memory.buffer as ArrayBuffer; // shared in no module of the edge
  }
}
