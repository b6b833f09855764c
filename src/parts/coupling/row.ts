// Label coupling at the edge: s2 = ((s - mu) E) Bs + mu of the first scores s.

import type { OpenRow } from "../row.ts";

export const couplingRow: OpenRow = (reader, about, { labels, before }) => {
  if (before === 0) reader.refuse("label coupling first", "a part before it");
  const rank = reader.integer(about, "rank", 1);
  const mean = reader.vector("mean", labels);
  const vectors = reader.matrix("vectors", labels, rank);
  const weights = reader.matrix("weights", rank, labels);
  const order = [...mean.keys()];
  return {
    score: "stack",
    info: { rank },
    scores: (_, earlier) =>
      earlier.map(([{ values }]) => {
        const projected = new Float64Array(rank);
        vectors.add(
          order,
          values.map((score, label) => score - mean[label]),
          labels,
          projected,
        );
        const out = new Float64Array(mean);
        weights.add([...projected.keys()], projected, rank, out);
        return { values: out };
      }),
  };
};
