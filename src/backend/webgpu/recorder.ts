// Records operations as dispatches of shaders, and starts them together. Parameters and bind groups are kept: a step
// that repeats the one before only records.

import { type Shader, type ShaderName, type ShaderNames, shaders } from "../../generated/shaders.ts";
import type { Backend } from "../backend.ts";
import { type Block, GpuMemory, type Storage } from "./memory.ts";
import { alive, type GpuIndices, type GpuPattern, type GpuSparse, type GpuTensor, type Operand } from "./tensors.ts";

/** Bytes from one set of parameters to the next: what offsets of uniform buffers must be a multiple of. */
const SLOT = 256;
const SLOTS = 4096;
/** Commands after which those recorded are started, whether or not someone asked. */
const MOST_COMMANDS = 2000;
const MOST_BIND_GROUPS = 8192;
const MOST_WORKGROUPS = 65_535;
/** Offsets of storage buffers are multiples of it. */
const ALIGNMENT = 256;

/** The backend's operations on tensors of a GPU. */
export type GpuOperations = Required<Backend<GpuTensor, GpuSparse, GpuIndices, GpuPattern>>;
/** One of them, which records. */
export type Operation<Name extends keyof GpuOperations> = GpuOperations[Name] extends (
  ...given: infer Given
) => infer Result
  ? (gpu: Recorder, ...given: Given) => Result
  : never;

/** Texts to put in the place of some shaders'. */
export type Sources = Partial<Record<ShaderName, string>>;

type Operands<Name extends ShaderName> = {
  [Required in ShaderNames[Name]["operand"]]: Operand;
} & { [Optional in ShaderNames[Name]["optional"]]?: Operand | undefined };
/** The parameters of a shader that a caller gives. */
type Given<Name extends ShaderName> = Record<ShaderNames[Name]["parameter"], number>;
/** Nothing by another name than those expected. */
type Only<Expected, Found> = Found & Record<Exclude<keyof Found, keyof Expected>, never>;

/** Shaders whose workgroups take SIZE elements. */
type SizedShader = {
  [Name in ShaderName]: "SIZE" extends ShaderNames[Name]["constant"] ? Name : never;
}[ShaderName];

/** Workgroups in each dimension. */
export type Grid = readonly [number, number, number];

/** The binding of an operand: a whole buffer, or the part of a large one that can be bound. */
interface Window {
  storage: Storage;
  /** First byte. */
  base: number;
}

/** A shader on a device: its pipeline, and how its buffers are bound. */
interface Program {
  name: string;
  shader: Shader;
  pipeline: GPUComputePipeline;
  layout: GPUBindGroupLayout;
}

/** GPUShaderStage.COMPUTE: the name is not there in every runtime. */
const COMPUTE = 4;

const compiled = new WeakMap<GPUDevice, Map<string, Promise<Program>>>();

/** The shader on this device, compiled once however many backends use it. */
function programOf(device: GPUDevice, name: string, shader: Shader): Promise<Program> {
  const known = compiled.get(device) ?? new Map<string, Promise<Program>>();
  compiled.set(device, known);
  const program = known.get(shader.source) ?? compile(device, name, shader);
  known.set(shader.source, program);
  return program;
}

/** Says where a shader does not compile. */
async function compile(device: GPUDevice, name: string, shader: Shader): Promise<Program> {
  const layout = device.createBindGroupLayout({
    entries: [
      { binding: 0, visibility: COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true } },
      ...shader.bindings.map(({ writable }, i) => ({
        binding: i + 1,
        visibility: COMPUTE,
        buffer: { type: writable ? ("storage" as const) : ("read-only-storage" as const) },
      })),
    ],
  });
  // Errors are told by name below; without a scope the runtime would print it as well.
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ label: name, code: shader.source });
  const [{ messages }] = await Promise.all([module.getCompilationInfo(), device.popErrorScope()]);
  const problem = messages.find(({ type }) => type === "error");
  if (problem) throw new Error(`shader ${name}: found ${problem.message} in line ${problem.lineNum}`);
  const pipeline = await device.createComputePipelineAsync({
    label: name,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  return { name, shader, pipeline, layout };
}

export class Recorder {
  /** Bytes that can be bound at once. Kept: Dawn in Node makes new objects whenever a device is asked for its limits. */
  readonly mostBound: number;
  readonly #memory: GpuMemory;
  readonly #programs = new Map<ShaderName, Program>();
  readonly #parameters: Storage;
  readonly #slots = new Map<string, number>();
  readonly #bindGroups = new Map<string, GPUBindGroup>();
  /** Bound where a shader has no use for an operand. */
  readonly #nothing: Storage;
  readonly #readers: Storage[] = [];
  readonly #words = new Uint32Array(SLOT / 4);
  readonly #reals: Float32Array = new Float32Array(this.#words.buffer);
  readonly #onError: (event: Event) => void;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #commands = 0;
  #submission = 0;
  #doomed: Storage[] = [];
  #error: Error | undefined;

  private constructor(readonly device: GPUDevice) {
    this.mostBound = device.limits.maxStorageBufferBindingSize;
    this.#memory = new GpuMemory(device, (error) => {
      this.#error ??= error;
    });
    this.#parameters = this.#memory.create(SLOT * SLOTS, "parameters of shaders", "parameters");
    this.#nothing = this.#memory.create(ALIGNMENT, "an empty operand", "storage");
    this.#onError = (event) => {
      const { error } = event as GPUUncapturedErrorEvent;
      this.#error ??= new Error(`GPU: found ${error.message}`);
    };
    device.addEventListener("uncapturederror", this.#onError);
  }

  static async create(device: GPUDevice, changed: Sources = {}): Promise<Recorder> {
    const recorder = new Recorder(device);
    const names = Object.keys(shaders) as ShaderName[];
    try {
      await Promise.all(
        names.map(async (name) => {
          const shader = { ...shaders[name], source: changed[name] ?? shaders[name].source };
          recorder.#programs.set(name, await programOf(device, name, shader));
        }),
      );
    } catch (error) {
      recorder.dispose();
      throw error;
    }
    return recorder;
  }

  constant<Name extends ShaderName>(shader: Name, name: ShaderNames[Name]["constant"]): number {
    return shaders[shader].constants[name];
  }

  /** Memory for so many elements of four bytes; what it holds is not known unless it is fresh. */
  allocate(elements: number, what: string): Block {
    return this.#memory.allocate(4 * elements, what, this.#submission, false);
  }

  upload(values: Float32Array | Int32Array, what: string): Block {
    const block = this.#memory.allocate(values.byteLength, what, this.#submission, true);
    this.write({ block, offset: 0, length: values.length }, values);
    return block;
  }

  /** Starts of lists and what is listed, one behind the other. */
  uploadLists(starts: Int32Array, listed: Int32Array, what: string): Operand {
    const joined = new Int32Array(starts.length + listed.length);
    joined.set(starts);
    joined.set(listed, starts.length);
    return { block: this.upload(joined, what), offset: 0, length: joined.length };
  }

  release(block: Block): void {
    const doomed = this.#memory.release(block);
    if (doomed) this.#doomed.push(doomed);
  }

  /** Enough workgroups of a size for that many elements, folded where one dimension does not hold them. */
  grid(elements: number, size = 1): Grid {
    const count = Math.ceil(elements / size);
    return count <= MOST_WORKGROUPS ? [count, 1, 1] : [MOST_WORKGROUPS, Math.ceil(count / MOST_WORKGROUPS), 1];
  }

  /** Strips of SIZE columns, and rows folded into the other two dimensions. */
  strips(shader: SizedShader, columns: number, rows: number): Grid {
    const x = Math.ceil(columns / this.constant(shader, "SIZE"));
    return rows <= MOST_WORKGROUPS ? [x, rows, 1] : [x, MOST_WORKGROUPS, Math.ceil(rows / MOST_WORKGROUPS)];
  }

  /**
   * Records a dispatch. Operands and parameters go by their names in the shader; offsets of operands are filled in.
   *
   * A buffer may not be read and written through two bindings. An input that lies in the buffer of its output is read
   * through the output (the shader's xIsOut); where a shader cannot do that, a copy of the input is bound.
   */
  run<Name extends ShaderName, Found extends Operands<Name>, Numbers extends Given<Name>>(
    shader: Name,
    grid: Grid,
    operands: Only<Operands<Name>, Found>,
    given: Only<Given<Name>, Numbers>,
  ): void {
    for (const [name, operand] of Object.entries<Operand | undefined>(operands)) if (operand) alive(name, operand);
    if (grid[0] * grid[1] * grid[2] === 0) return;
    if (Math.max(...grid) > MOST_WORKGROUPS)
      throw new Error(
        `shader ${shader}: found ${grid.join(" x ")} workgroups, expected at most ${MOST_WORKGROUPS} a side`,
      );
    const program = this.#programs.get(shader) as Program;
    const values: Record<string, number> = { ...given };
    const { windows, copies } = this.#windows(program, operands, values);
    const group = this.#bindGroup(program, windows);
    const slot = this.#slot(program, values);
    this.#pass ??= this.#recording().beginComputePass();
    this.#pass.setPipeline(program.pipeline);
    this.#pass.setBindGroup(0, group, [slot * SLOT]);
    this.#pass.dispatchWorkgroups(...grid);
    for (const { storage } of windows) storage.lastUse = this.#submission;
    for (const copy of copies) this.release(copy);
    this.#counted();
  }

  /** Records a dispatch for so many elements, SIZE of them a workgroup. */
  each<Name extends SizedShader, Found extends Operands<Name>, Numbers extends Given<Name>>(
    shader: Name,
    elements: number,
    operands: Only<Operands<Name>, Found>,
    given: Only<Given<Name>, Numbers>,
  ): void {
    this.run<Name, Found, Numbers>(shader, this.grid(elements, this.constant(shader, "SIZE")), operands, given);
  }

  /** Bindings of the operands; offsets and the marks of inputs that are read through outputs go to `values`. */
  #windows(
    program: Program,
    operands: Record<string, Operand | undefined>,
    values: Record<string, number>,
  ): { windows: Window[]; copies: Block[] } {
    const written = new Map<string, Window>();
    const copies: Block[] = [];
    for (const { name, writable } of program.shader.bindings) {
      const operand = operands[name];
      if (!writable) continue;
      if (operand === undefined) throw new Error(`shader ${program.name}: found no ${name}`);
      const window = this.#window(operand, program.name, name);
      if ([...written.values()].some(({ storage }) => storage === window.storage))
        throw new Error(`shader ${program.name}: found one buffer for two outputs, expected two`);
      written.set(name, window);
      values[`${name}Offset`] = operand.offset - window.base / 4;
    }
    const nothing: Window = { storage: this.#nothing, base: 0 };
    const windows = program.shader.bindings.map(({ name, writable }): Window => {
      if (writable) return written.get(name) as Window;
      values[`${name}IsOut`] = 0;
      values[`${name}Offset`] = 0;
      const operand = operands[name];
      if (operand === undefined) return nothing;
      const partner = written.get(`d${name.charAt(0).toUpperCase()}${name.slice(1)}`) ?? written.get("out");
      const { storage } = operand.block;
      const readable = program.shader.fields.some((field) => field.name === `${name}IsOut`);
      if (partner?.storage === storage && readable && this.#isWithin(operand, partner)) {
        values[`${name}IsOut`] = 1;
        values[`${name}Offset`] = operand.offset - partner.base / 4;
        return nothing;
      }
      if ([...written.values()].some((window) => window.storage === storage)) {
        const copy = this.copied(operand, name);
        copies.push(copy);
        return { storage: copy.storage, base: 0 };
      }
      const window = this.#window(operand, program.name, name);
      values[`${name}Offset`] = operand.offset - window.base / 4;
      return window;
    });
    return { windows, copies };
  }

  /** All of the operand is bound with this window. */
  #isWithin({ offset, length }: Operand, { base }: Window): boolean {
    return 4 * offset >= base && 4 * (offset + length) <= base + this.mostBound;
  }

  #window(operand: Operand, shader: string, name: string): Window {
    const { storage } = operand.block;
    const most = this.mostBound;
    if (storage.bytes <= most) return { storage, base: 0 };
    const base = Math.floor((4 * operand.offset) / ALIGNMENT) * ALIGNMENT;
    if (!this.#isWithin(operand, { storage, base }))
      throw new Error(
        `shader ${shader}: found ${4 * operand.length} bytes in ${name}, expected at most ${most}, which this device can bind`,
      );
    return { storage, base };
  }

  #bindGroup(program: Program, windows: Window[]): GPUBindGroup {
    const key = `${program.name} ${windows.map(({ storage, base }) => `${storage.id}+${base}`).join(" ")}`;
    const known = this.#bindGroups.get(key);
    if (known) return known;
    if (this.#bindGroups.size >= MOST_BIND_GROUPS) this.#bindGroups.clear();
    const group = this.device.createBindGroup({
      layout: program.layout,
      entries: [
        { binding: 0, resource: { buffer: this.#parameters.buffer, size: SLOT } },
        ...windows.map(({ storage, base }, i) => {
          const resource = {
            buffer: storage.buffer,
            offset: base,
            size: Math.min(this.mostBound, storage.bytes - base),
          };
          return { binding: i + 1, resource };
        }),
      ],
    });
    this.#bindGroups.set(key, group);
    for (const { storage } of windows) storage.bindGroups.add(key);
    return group;
  }

  /** Where these parameters stand in the uniform buffer; the same ones stand there once. */
  #slot(program: Program, values: Record<string, number>): number {
    program.shader.fields.forEach(({ name, type }, i) => {
      const value = values[name];
      if (value === undefined) throw new Error(`shader ${program.name}: found no parameter ${name}`);
      if (type === "u32") this.#words[i] = value;
      else this.#reals[i] = value;
    });
    const words = this.#words.subarray(0, program.shader.fields.length);
    const key = words.join();
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    if (this.#slots.size === SLOTS) this.flush();
    const slot = this.#slots.size;
    this.#slots.set(key, slot);
    // No command that is recorded but not started reads this slot: it can be written at once.
    this.device.queue.writeBuffer(this.#parameters.buffer, slot * SLOT, words);
    return slot;
  }

  #recording(): GPUCommandEncoder {
    this.#encoder ??= this.device.createCommandEncoder();
    return this.#encoder;
  }

  /** Commands outside a pass. */
  #outside(): GPUCommandEncoder {
    this.#pass?.end();
    this.#pass = undefined;
    return this.#recording();
  }

  #counted(): void {
    this.#commands++;
    if (this.#commands >= MOST_COMMANDS) this.flush();
  }

  copied(operand: Operand, what: string): Block {
    const copy = this.allocate(operand.length, `a copy of ${what}`);
    this.copy(operand, { block: copy, offset: 0, length: operand.length });
    return copy;
  }

  copy(from: Operand, to: Operand): void {
    const bytes = 4 * from.length;
    if (bytes === 0) return;
    const [source, target] = [from.block.storage, to.block.storage];
    this.#outside().copyBufferToBuffer(source.buffer, 4 * from.offset, target.buffer, 4 * to.offset, bytes);
    source.lastUse = this.#submission;
    target.lastUse = this.#submission;
    this.#counted();
  }

  clear(operand: Operand): void {
    const { storage } = operand.block;
    if (operand.length === 0) return;
    this.#outside().clearBuffer(storage.buffer, 4 * operand.offset, 4 * operand.length);
    storage.lastUse = this.#submission;
    this.#counted();
  }

  /** Uploads. The queue writes before what is recorded but not started: that goes first where it uses the buffer. */
  write(operand: Operand, values: Float32Array | Int32Array): void {
    const { storage } = alive("tensor", operand).block;
    if (values.length === 0) return;
    if (storage.lastUse === this.#submission) this.flush();
    const plain = isShared(values) ? values.slice() : (values as Float32Array<ArrayBuffer>);
    this.device.queue.writeBuffer(storage.buffer, 4 * operand.offset, plain);
  }

  /** Reads back, after everything that was recorded. */
  async read(operand: Operand, then?: () => void): Promise<ArrayBuffer> {
    alive("tensor", operand);
    const bytes = 4 * operand.length;
    const fitting = this.#readers.findIndex((reader) => reader.bytes >= bytes && reader.bytes <= 4 * bytes + 256);
    const reader =
      fitting >= 0
        ? this.#readers.splice(fitting, 1)[0]
        : this.#memory.create(Math.max(256, bytes), "reading back", "reading");
    const { storage } = operand.block;
    this.#outside().copyBufferToBuffer(storage.buffer, 4 * operand.offset, reader.buffer, 0, bytes);
    storage.lastUse = this.#submission;
    then?.();
    this.flush();
    await reader.buffer.mapAsync(MAP_READ_MODE, 0, bytes);
    const copy = reader.buffer.getMappedRange(0, bytes).slice(0);
    reader.buffer.unmap();
    this.#readers.push(reader);
    if (this.#readers.length > MOST_READERS) this.#memory.destroy(this.#readers.shift() as Storage);
    if (this.#error) throw this.#error;
    return copy;
  }

  /** Starts what was recorded. */
  flush(): void {
    if (this.#encoder) {
      this.device.queue.submit([this.#outside().finish()]);
      this.#encoder = undefined;
      this.#commands = 0;
      this.#submission++;
    }
    // Between two submissions parameters may be overwritten: better now than in the middle of the next.
    if (this.#slots.size > SLOTS / 2) this.#slots.clear();
    for (const storage of this.#doomed.splice(0)) {
      for (const key of storage.bindGroups) this.#bindGroups.delete(key);
      this.#memory.destroy(storage);
    }
  }

  dispose(): void {
    this.flush();
    this.device.removeEventListener("uncapturederror", this.#onError);
    this.#bindGroups.clear();
    this.#memory.dispose();
  }
}

/** Memory shared between threads, as a core's: Deno 2.9 would upload zeros from it, and Dawn in Node 20 crashes. */
const isShared = (values: Float32Array | Int32Array): boolean =>
  values.buffer[Symbol.toStringTag] === "SharedArrayBuffer";

/** GPUMapMode.READ: the name is not there in every runtime. */
const MAP_READ_MODE = 1;
const MOST_READERS = 32;
