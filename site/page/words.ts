// Numbers as people read them.

export const count = (value: number): string => Math.round(value).toLocaleString("en");

/** 1 point, 2 points. */
export const several = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

export function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

/** 0.3 %, 41.2 %, 99.97 %: never 100 % of something that is not certain. */
export function percent(probability: number): string {
  const value = 100 * probability;
  const digits = value > 99.9 || value < 0.1 ? 2 : 1;
  const cut = Math.floor(value * 10 ** digits) / 10 ** digits;
  return `${cut.toFixed(digits)} %`;
}
