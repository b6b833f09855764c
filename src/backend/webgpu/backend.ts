// The backend on a GPU: every operation is recorded as dispatches of shaders, and everything stays on the device until
// it is read. The device is the caller's: it is never destroyed here.

import { sameSize, wholeNumber } from "../../base/check.ts";
import { ArgumentError } from "../../base/errors.ts";
import type { Backend } from "../backend.ts";
import * as dense from "./dense.ts";
import { Factorisation, inverseFromFactor, logDeterminant } from "./factor.ts";
import * as likelihood from "./likelihood.ts";
import { type GpuOperations, type Operation, Recorder, type Sources } from "./recorder.ts";
import * as sparse from "./sparse.ts";
import { GpuSparse, GpuTensor } from "./tensors.ts";

export interface WebGpuBackend extends Backend {
  readonly device: GPUDevice;
  tensor(rows: number, columns: number, values?: ArrayLike<number>): GpuTensor;
  flush(): void;
}

/** Operations that record here. */
function recorded<From extends { [Name in keyof GpuOperations]?: Operation<Name> }>(recorder: Recorder, from: From) {
  const bound = Object.entries(from).map(([name, operation]) => [name, operation.bind(undefined, recorder)]);
  return Object.fromEntries(bound) as Pick<GpuOperations, keyof From & keyof GpuOperations>;
}

const floats = (values: ArrayLike<number>): Float32Array =>
  values instanceof Float32Array ? values : Float32Array.from(values);

const greatestOf = (values: Int32Array): number =>
  values.reduce((greatest, value) => Math.max(greatest, wholeNumber("values", value, 0)), 0);

/** Compiles the shaders; `changed` replaces the text of some (to see that faults are found). */
export async function webGpuBackend(device: GPUDevice, changed: Sources = {}): Promise<WebGpuBackend> {
  const recorder = await Recorder.create(device, changed);
  const factorisation = new Factorisation(recorder);
  const operations: Omit<GpuOperations, "rowSteps" | "drawColumns"> = {
    name: "webgpu",
    onCore: false,
    precision: "f32",
    ...recorded(recorder, { ...dense, ...sparse, ...likelihood, inverseFromFactor, logDeterminant }),
    tensor(rows, columns, values) {
      wholeNumber("rows", rows, 0);
      wholeNumber("columns", columns, 0);
      const what = `a ${rows} x ${columns} matrix of f32`;
      if (values !== undefined) {
        sameSize("values", "elements", values.length, rows * columns);
        return new GpuTensor(recorder.upload(floats(values), what), rows, columns, 0, true);
      }
      const made = new GpuTensor(recorder.allocate(rows * columns, what), rows, columns, 0, true);
      if (!made.block.fresh) dense.fill(recorder, made, 0);
      return made;
    },
    indices(given) {
      const values = typeof given === "number" ? new Int32Array(wholeNumber("length", given, 0)) : given;
      const { length } = values;
      const block = recorder.upload(values, `${length} whole numbers`);
      return { block, offset: 0, length, greatest: greatestOf(values) };
    },
    write(tensor, values) {
      sameSize("values", "elements", values.length, tensor.length);
      recorder.write(tensor, floats(values));
    },
    writeIndices(indices, values) {
      sameSize("values", "elements", values.length, indices.length);
      indices.greatest = greatestOf(values);
      recorder.write(indices, values);
    },
    read: async (tensor) => (tensor.length === 0 ? new Float32Array(0) : new Float32Array(await recorder.read(tensor))),
    free(...tensors) {
      for (const tensor of tensors) {
        if (tensor instanceof GpuTensor && !tensor.owner)
          throw new ArgumentError("tensor", "found a view, expected the tensor that it looks into");
        const blocks = tensor instanceof GpuSparse ? tensor.blocks() : [tensor.block];
        for (const block of blocks) recorder.release(block);
      }
    },
    rowRange: (tensor, from, to) => tensor.rowRange(from, to),
    reshape: (tensor, rows, columns) => tensor.reshape(rows, columns),
    factorise: (a, count) => factorisation.factorise(a, count),
    factorisationReport: () => factorisation.report(),
    flush: () => recorder.flush(),
    dispose: () => recorder.dispose(),
  };
  return { ...operations, device };
}
