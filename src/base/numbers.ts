// Counts as people read them. No locale: the same text everywhere.

/** 1234567 -> "1,234,567" */
export function grouped(value: number): string {
  const [whole, rest] = String(value).split(".") as [string, string?];
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? spaced : `${spaced}.${rest}`;
}

/** "1 label", "2,000 labels" */
export const counted = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
