// A shader with its pipeline. What it binds, which parameters it takes and how large its workgroups are is read from
// its text, so that each is written down once.

export interface Binding {
  index: number;
  name: string;
  writable: boolean;
}

export interface Field {
  name: string;
  type: "u32" | "f32";
}

export interface Program {
  name: string;
  pipeline: GPUComputePipeline;
  layout: GPUBindGroupLayout;
  bindings: Binding[];
  fields: Field[];
  /** Named whole numbers of the shader: sizes of workgroups and tiles. */
  constants: Record<string, number>;
}

const BINDING = /@binding\((\d+)\) var<storage, (read|read_write)> (\w+)/g;
const FIELDS = /struct Parameters \{([^}]*)\}/;
const FIELD = /(\w+): (u32|f32)/g;
const CONSTANT = /const (\w+) = (\d+)u;/g;

function bindingsOf(source: string): Binding[] {
  return [...source.matchAll(BINDING)].map(([, index, access, name]) => ({
    index: Number(index),
    name: name as string,
    writable: access === "read_write",
  }));
}

function fieldsOf(source: string): Field[] {
  const body = FIELDS.exec(source)?.[1] ?? "";
  return [...body.matchAll(FIELD)].map(([, name, type]) => ({
    name: name as string,
    type: type as Field["type"],
  }));
}

/** GPUShaderStage.COMPUTE: the name is not there in every runtime. */
const COMPUTE = 4;

const compiled = new WeakMap<GPUDevice, Map<string, Promise<Program>>>();

/** The shader on this device, compiled once however many backends use it. */
export function programOf(device: GPUDevice, name: string, source: string): Promise<Program> {
  const known = compiled.get(device) ?? new Map<string, Promise<Program>>();
  compiled.set(device, known);
  const program = known.get(source) ?? compile(device, name, source);
  known.set(source, program);
  return program;
}

/** Says where a shader does not compile. */
async function compile(device: GPUDevice, name: string, source: string): Promise<Program> {
  const bindings = bindingsOf(source);
  const layout = device.createBindGroupLayout({
    entries: [
      { binding: 0, visibility: COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true } },
      ...bindings.map(({ index, writable }) => ({
        binding: index,
        visibility: COMPUTE,
        buffer: { type: writable ? ("storage" as const) : ("read-only-storage" as const) },
      })),
    ],
  });
  // What is wrong is said by name below; without a scope the runtime would print it as well.
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ label: name, code: source });
  const [{ messages }] = await Promise.all([module.getCompilationInfo(), device.popErrorScope()]);
  const problem = messages.find(({ type }) => type === "error");
  if (problem) throw new Error(`shader ${name}: found ${problem.message} in line ${problem.lineNum}`);
  const pipeline = await device.createComputePipelineAsync({
    label: name,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  const constants = Object.fromEntries(
    [...source.matchAll(CONSTANT)].map(([, constant, value]) => [constant as string, Number(value)]),
  );
  return { name, pipeline, layout, bindings, fields: fieldsOf(source), constants };
}
