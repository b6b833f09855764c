// A training from its start to its end, on as many devices as it takes: when a GPU is lost it goes on from the last
// state that was kept, on another GPU or on WASM.

import { type OpenDevice, replaceDevice } from "../backend/devices.ts";
import type { LatentModel } from "../model/model.ts";
import type { CheckpointIdentity, TrainingState } from "./checkpoint.ts";
import { runSteps } from "./loop.ts";
import type { Prepared } from "./prepare.ts";
import type { FullRunOptions } from "./run.ts";
import { Session } from "./session.ts";

/** GPUs that are tried after the first. */
const REPLACEMENTS = 2;

/** Owns the device it is given. */
export async function trainOnDevices(
  first: OpenDevice,
  prepared: Prepared,
  identity: CheckpointIdentity,
  from: TrainingState | undefined,
  run: FullRunOptions,
): Promise<LatentModel> {
  let device = first;
  let state = from;
  for (let losses = 1; ; losses++) {
    const end = await trainOn(device, prepared, identity, state, run);
    if ("model" in end) return end.model;
    state = end.state;
    device = await replaceDevice(
      prepared.core,
      run.device,
      prepared.options.precision,
      losses <= REPLACEMENTS,
    );
    const text = `the GPU was lost (${end.lost}): going on from step ${state?.step ?? 0} on ${device.about}`;
    run.onProgress?.({ stage: "note", text });
  }
}

/** On one device, which it disposes of: to the end, or until the device is lost. */
async function trainOn(
  device: OpenDevice,
  prepared: Prepared,
  identity: CheckpointIdentity,
  state: TrainingState | undefined,
  run: FullRunOptions,
): Promise<{ model: LatentModel } | { lost: string; state: TrainingState | undefined }> {
  let session: Session | undefined;
  try {
    session = new Session(device, prepared);
    await session.start(state);
    return { model: await runSteps(session, prepared.shape, identity, run) };
  } catch (error) {
    const lost = await device.lostSoon();
    if (lost === undefined) throw error;
    return { lost, state: session?.kept ?? state };
  } finally {
    session?.free();
    device.dispose();
  }
}
