// The name a person meant: the nearest of those there are.

/** Letters to change, leave out, put in or swap with the next one to get from one word to the other. */
function distance(from: string, to: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let least = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, earlier[j - 2] + 1);
      next.push(least);
    }
    [earlier, row] = [row, next];
  }
  return row[to.length];
}

/** "learning-rate" and "learningRate" -> "lr" */
const initials = (name: string): string =>
  name
    .split(/-|(?=[A-Z])/)
    .map((word) => word[0]?.toLowerCase() ?? "")
    .join("");

/** The nearest name, unless all of them are far away. */
export function nearest(found: string, names: readonly string[]): string | undefined {
  const wanted = found.toLowerCase();
  const far = names.map((name) => distance(wanted, name.toLowerCase()));
  const best = Math.min(...far);
  if (best <= Math.max(1, Math.floor(found.length / 3))) return names[far.indexOf(best)];
  const begun = names.filter((name) => wanted.length > 2 && name.toLowerCase().startsWith(wanted));
  return begun[0] ?? names.find((name) => wanted.length > 1 && initials(name) === wanted);
}

/** ", did you mean --epochs?" with what stands before a name. */
export function didYouMean(found: string, names: readonly string[], before = ""): string {
  const name = nearest(found, names);
  return name === undefined ? "" : `, did you mean ${before}${name}?`;
}
