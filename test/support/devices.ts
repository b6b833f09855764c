// GPU devices to test with: made here, or seen while the library makes its own; and the buffers that live on one.

import { findAdapter, NoGpu, requestDevice } from "../../src/backend/adapter.ts";

/** A device of the test's own. */
export async function newDevice(): Promise<GPUDevice> {
  const found = await findAdapter();
  if (found instanceof NoGpu) throw new Error(`these tests need a GPU or a software one: ${found.why}`);
  return await requestDevice(found);
}

/** Runs the body and shows it every device that is made meanwhile. */
export async function seeingDevices<T>(body: (devices: GPUDevice[]) => Promise<T>): Promise<T> {
  const found = await findAdapter();
  if (found instanceof NoGpu) throw new Error(`these tests need a GPU or a software one: ${found.why}`);
  const prototype = Object.getPrototypeOf(found.adapter) as GPUAdapter;
  const request = prototype.requestDevice;
  const devices: GPUDevice[] = [];
  prototype.requestDevice = async function (this: GPUAdapter, ...options) {
    const device = await request.apply(this, options);
    devices.push(device);
    return device;
  };
  try {
    return await body(devices);
  } finally {
    prototype.requestDevice = request;
  }
}

export interface LiveBuffers {
  count: number;
  bytes: number;
}

/** Counts the buffers of a device that have been made and not destroyed. */
export function countBuffers(device: GPUDevice): () => LiveBuffers {
  const live = new Map<GPUBuffer, number>();
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const destroy = buffer.destroy.bind(buffer);
    live.set(buffer, descriptor.size);
    buffer.destroy = (): undefined => {
      live.delete(buffer);
      destroy();
    };
    return buffer;
  };
  return () => ({ count: live.size, bytes: Array.from(live.values()).reduce((sum, size) => sum + size, 0) });
}

/** Whether a device still does what it is told. */
export async function works(device: GPUDevice): Promise<boolean> {
  const buffer = device.createBuffer({ size: 16, usage: 1 | 8 });
  try {
    device.queue.writeBuffer(buffer, 0, Float32Array.of(1, 2, 3, 4));
    // Deno writes when something is submitted.
    device.queue.submit([]);
    await buffer.mapAsync(1);
    return new Float32Array(buffer.getMappedRange())[3] === 4;
  } catch {
    return false;
  } finally {
    buffer.destroy();
  }
}
