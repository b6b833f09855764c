// The inverse of K + lam I on a GPU: nearly all operations of the exact form. Kernel rows, which come from sparse rows
// through an inverted index, and sums over the labels of points stay on the core; so does the inverse where the matrix is
// larger than the GPU takes, or the GPU is lost.

import type { OpenDevice } from "../backend/devices.ts";
import { inverseInPlace } from "../core/inverse.ts";
import type { Matrix } from "../core/matrix.ts";
import { pause, type WorkOptions } from "../core/progress.ts";

/** A becomes inverse(A), both triangles, from its lower triangle. */
export type InverseWork = (a: Matrix, options?: WorkOptions) => Promise<Matrix>;

/** The inverse on this device where it can be; `note` is told, once, why it is not. */
export function inverseOn(device: OpenDevice, note: (text: string) => void): InverseWork {
  let refused = false;
  const refuse = (why: string): void => {
    if (!refused) note(`the inverse is computed on WASM: ${why}`);
    refused = true;
  };
  return async (a, options = {}) => {
    const bytes = a.rows * a.columns * 4;
    if (bytes > device.largestTensor)
      refuse(`${bytes} bytes of a matrix are more than the ${device.largestTensor} that the GPU takes`);
    else if (device.lost === undefined && (await invertedOn(device, a, options, refuse))) return a;
    return await inverseInPlace(a, options);
  };
}

/** Whether it went well; if not, the matrix is as it was. */
async function invertedOn(
  { backend, check, lostSoon }: OpenDevice,
  a: Matrix,
  options: WorkOptions,
  refuse: (why: string) => void,
): Promise<boolean> {
  await pause(options, "inverse", 0);
  const { rows } = a;
  const tensors = [backend.tensor(rows, rows, a.view()), backend.tensor(rows, rows)] as const;
  const [square, inverse] = tensors;
  try {
    backend.factorise(square, 1);
    backend.inverseFromFactor(square, inverse, 1);
    const { raised, failed } = await backend.factorisationReport();
    const values = await backend.read(inverse);
    check();
    if (raised > 0 || failed >= 0) return false;
    a.set(values);
    return true;
  } catch (error) {
    const lost = await lostSoon();
    refuse(lost ?? (error as Error).message);
    return false;
  } finally {
    backend.free(...tensors);
  }
}
