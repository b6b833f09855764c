// Half precision (F16) to numbers, exactly: (fraction + implicit one) times a power of two, both by the upper six bits.

const implicit = new Float64Array(64);
const power = new Float64Array(64);
// By products, not powers: the host's power function is not the same everywhere.
for (let exponent = 0, unit = 1 / 16777216; exponent < 32; exponent++) {
  implicit[exponent] = implicit[exponent + 32] = exponent === 0 ? 0 : 1024;
  power[exponent] = unit;
  power[exponent + 32] = -unit;
  if (exponent > 0) unit *= 2;
}

/** The number with these bits; not for infinities and NaN, which files may not have. */
export function fromHalf(bits: number): number {
  const high = bits >> 10;
  return ((bits & 1023) + (implicit[high] as number)) * (power[high] as number);
}

/** Whether none of these bits is an infinity or NaN. */
export function allHalvesFinite(values: Uint16Array): boolean {
  for (let i = 0; i < values.length; i++) if (((values[i] as number) & 0x7c00) === 0x7c00) return false;
  return true;
}
