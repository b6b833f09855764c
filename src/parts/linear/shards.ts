// The linear part from sums over shards of the data. Sums are exact (rows are rounded to a grid), so that the part has the same bytes
// however the points were cut.

import { ArgumentError } from "../../base/errors.ts";
import { scoped } from "../../core/matrix.ts";
import type { ModelSchema, Shards } from "../part.ts";
import { packedLength } from "../regression/packed.ts";
import { placeDocuments } from "../regression/points.ts";
import { captureState, restoreState } from "../regression/state.ts";
import { Statistics } from "../regression/totals.ts";
import { GRID, linearColumns, linearRows, MOST_COLUMNS, NOISE, probesFrom, solveLinear } from "./fit.ts";
import type { LinearPart } from "./posterior.ts";

/** Bytes that A [D,D] and B' [K,D] may take in double precision, beside the points in a core's four gigabytes. */
const MOST_BYTES = 2.8e9;

/** The most features whose sums have room: D^2 + K D numbers. */
const mostColumns = (labels: number): number =>
  Math.min(MOST_COLUMNS, Math.floor((Math.sqrt(labels * labels + MOST_BYTES / 2) - labels) / 2));

/** The greatest sum of squares below which no addition is rounded: products are whole multiples of 1 / GRID^2, sums have 53 bits. */
const EXACT_BELOW = 2 ** 53 / GRID ** 2;

interface LinearPlan {
  readonly columns: Int32Array;
  readonly noise: number;
}

function planFrom(about: Readonly<Record<string, unknown>>, { features }: ModelSchema): LinearPlan {
  const { columns, noise } = about;
  const rises = (column: unknown, i: number): boolean =>
    Number.isInteger(column) &&
    (column as number) < features &&
    (column as number) > ((columns as number[])[i - 1] ?? -1);
  if (!Array.isArray(columns) || !columns.every(rises))
    throw new ArgumentError("plan", `found columns that do not rise, expected columns of the ${features} features`);
  if (!(typeof noise === "number" && noise > 0))
    throw new ArgumentError("plan", `found noise ${String(noise)}, expected a number above 0`);
  return { columns: Int32Array.from(columns), noise };
}

export const linearShards: Shards<LinearPart> = {
  plan: ({ features, labels }) => ({
    columns: [...linearColumns(features, mostColumns(labels.labels))],
    noise: NOISE,
  }),
  check: (about, schema) => void planFrom(about, schema),
  sums(core, data, schema, about, plan) {
    const { columns } = planFrom(about, schema);
    return scoped((scope) => {
      const features = linearRows(data.features, schema, columns);
      const { points, labels } = scope.keep(placeDocuments(core, { features, labels: data.labels }, schema.labels));
      const sums = scope.keep(new Statistics(core, { features: columns.length, labels: schema.labels }));
      sums.add({ from: 0, to: points.rows, f: points.x }, labels);
      return captureState({ ...plan, features: columns.length }, sums);
    });
  },
  async solve(core, whole, schema, about, work) {
    const { columns, noise } = planFrom(about, schema);
    const { gram = new Float64Array(0) } = whole.sums ?? {};
    for (let feature = 0; feature < columns.length; feature++)
      if (gram[packedLength(feature + 1) - 1] >= EXACT_BELOW)
        throw new ArgumentError(
          "parts",
          `found a feature whose squares add up to ${EXACT_BELOW} or more, expected fewer points`,
        );
    return await scoped(async (scope) => {
      const restored = restoreState(core, whole);
      if (!(restored?.totals instanceof Statistics) || whole.documents === undefined)
        throw new ArgumentError("parts", "found a state without sums, expected parts made by mlgpf train --plan");
      const { totals } = scope.keep(restored) as { totals: Statistics; free(): void };
      const probes = probesFrom(whole.documents.features, schema, columns);
      const way = { ...work, working: "f32", inverse: false } as const;
      const { solution, part } = await solveLinear(totals, { noise, columns }, probes, way);
      solution.free();
      const labelCounts = Int32Array.from(totals.labelCounts);
      return { part, schema: { ...schema, points: totals.points, labelCounts } };
    });
  },
};
