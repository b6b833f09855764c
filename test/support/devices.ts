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

/** Work on a device: buffers that were made and not destroyed, and what was asked of the device so far. */
export interface DeviceWork extends LiveBuffers {
  dispatches: number;
  uploadedBytes: number;
  submits: number;
  readBytes: number;
}

export interface LiveBuffers {
  count: number;
  bytes: number;
}

const watched = new WeakMap<GPUDevice, () => DeviceWork>();

/** Counts what a device is asked to do from the first time on that this is asked for. */
export function workOn(device: GPUDevice): () => DeviceWork {
  const known = watched.get(device);
  if (known) return known;
  const live = new Map<GPUBuffer, number>();
  const work = { dispatches: 0, uploadedBytes: 0, submits: 0, readBytes: 0 };
  const { queue } = device;
  const [create, encode] = [device.createBuffer.bind(device), device.createCommandEncoder.bind(device)];
  const [write, submit] = [queue.writeBuffer.bind(queue), queue.submit.bind(queue)];
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const [destroy, map] = [buffer.destroy.bind(buffer), buffer.mapAsync.bind(buffer)];
    live.set(buffer, descriptor.size);
    buffer.destroy = (): undefined => {
      live.delete(buffer);
      destroy();
    };
    buffer.mapAsync = (mode, offset, size) => {
      work.readBytes += size ?? descriptor.size;
      return map(mode, offset, size);
    };
    return buffer;
  };
  device.createCommandEncoder = (descriptor) => {
    const encoder = encode(descriptor);
    const begin = encoder.beginComputePass.bind(encoder);
    encoder.beginComputePass = (about) => {
      const pass = begin(about);
      const dispatch = pass.dispatchWorkgroups.bind(pass);
      pass.dispatchWorkgroups = (...grid): undefined => {
        work.dispatches++;
        dispatch(...grid);
      };
      return pass;
    };
    return encoder;
  };
  queue.writeBuffer = (...given): undefined => {
    work.uploadedBytes += given[2].byteLength;
    write(...given);
  };
  queue.submit = (buffers): undefined => {
    work.submits++;
    submit(buffers);
  };
  const counted = (): DeviceWork => ({
    count: live.size,
    bytes: Array.from(live.values()).reduce((sum, size) => sum + size, 0),
    ...work,
  });
  watched.set(device, counted);
  return counted;
}

/** Counts the buffers of a device that have been made and not destroyed. */
export function countBuffers(device: GPUDevice): () => LiveBuffers {
  const work = workOn(device);
  return () => {
    const { count, bytes } = work();
    return { count, bytes };
  };
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
