// Which of a model's labels are given for a point: so many of the best, those that are probable enough, those allowed.

import { leastOf, reaches, type Threshold } from "../metrics/cut.ts";

/** Labels for a point where neither a number nor a threshold is given. */
export const DEFAULT_LABELS = 5;

export interface LabelChoice {
  /** Most labels for a point; with a threshold all that reach it, unless this is given too. */
  topK?: number | undefined;
  /** Only labels at least this probable; one number, or one for each label. */
  threshold?: Threshold | undefined;
  /** 1 for each label that may come; undefined where all may. */
  allowed?: Uint8Array | undefined;
}

interface Ranked {
  id: number;
  probability: number;
}

/** Labels asked for at first where it is not known how many are enough. */
const FIRST = 32;

/**
 * The labels of each point. `best` gives the first `depth` of the `labels` there are, most probable first; it is asked for
 * more of them until no point can have another one.
 */
export async function chooseLabels<L extends Ranked>(
  best: (depth: number) => Promise<L[][]>,
  labels: number,
  { topK, threshold, allowed }: LabelChoice,
): Promise<L[][]> {
  const most = Math.min(labels, topK ?? (threshold === undefined ? DEFAULT_LABELS : labels));
  const least = leastOf(threshold ?? 0);
  const fits = ({ id, probability }: L): boolean =>
    reaches(threshold ?? 0, id, probability) && allowed?.[id] !== 0;
  // Where all labels may be wanted, or some of the best may not come, how deep to look is found out.
  const known = (topK !== undefined && typeof threshold !== "object") || threshold === undefined;
  for (let depth = known && !allowed ? most : FIRST; ; depth *= 4) {
    const asked = Math.min(labels, depth);
    const rows = await best(asked);
    const settled = (row: L[]): boolean =>
      asked === labels || row.filter(fits).length >= most || (row.at(-1)?.probability ?? 0) < least;
    if (rows.every(settled)) return rows.map((row) => row.filter(fits).slice(0, most));
  }
}
