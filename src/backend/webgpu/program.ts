// A shader on a device: its pipeline, and how its buffers are bound.

import type { Shader } from "../../generated/shaders.ts";

export interface Program {
  name: string;
  shader: Shader;
  pipeline: GPUComputePipeline;
  layout: GPUBindGroupLayout;
}

/** GPUShaderStage.COMPUTE: the name is not there in every runtime. */
const COMPUTE = 4;

const compiled = new WeakMap<GPUDevice, Map<string, Promise<Program>>>();

/** The shader on this device, compiled once however many backends use it. */
export function programOf(device: GPUDevice, name: string, shader: Shader): Promise<Program> {
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
  // What is wrong is said by name below; without a scope the runtime would print it as well.
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
