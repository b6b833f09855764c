// Everything of the closed form that a device computes.

import type { OpenDevice } from "../../backend/devices.ts";
import { type ExactDevice, exactOn } from "./exact.ts";
import { type FeatureDevice, featuresOn } from "./features.ts";
import { type InverseDevice, inverseOn } from "./inverse.ts";
import { DeviceParts } from "./parts.ts";

/** A device for both forms. */
export interface ClosedDevice {
  readonly exact: ExactDevice;
  readonly features: FeatureDevice;
  readonly inverse: InverseDevice;
}

/** The closed form on this device where it can; `note` is told, once a part, why the core computes it instead. */
export function closedOn(device: OpenDevice, note: (text: string) => void): ClosedDevice {
  const parts = new DeviceParts(device, note);
  return { exact: exactOn(parts), features: featuresOn(parts), inverse: inverseOn(parts) };
}
