// How far chance alone may have moved a frequency.

/** The 97.5 % point of the normal distribution: 95 % lie between it and its negative. */
const Z = 1.959963984540054;

/**
 * Wilson's 95 % interval of a frequency f seen in n trials; it never leaves [0, 1] and holds for few trials too:
 *     (f + z^2/2n -+ z sqrt(f (1 - f)/n + z^2/4n^2)) / (1 + z^2/n)
 */
export function wilsonInterval(frequency: number, trials: number): [low: number, high: number] {
  if (trials === 0) return [0, 1];
  const square = (Z * Z) / trials;
  const spread = Z * Math.sqrt((frequency * (1 - frequency)) / trials + square / (4 * trials));
  const low = (frequency + square / 2 - spread) / (1 + square);
  const high = (frequency + square / 2 + spread) / (1 + square);
  return [Math.max(0, Math.min(low, frequency)), Math.min(1, Math.max(high, frequency))];
}
