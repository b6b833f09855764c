// The rows of a stream that are one process's own: every N-th, beginning with the I-th. All N together answer each row once.

import { selectRows } from "../data/dataset.ts";
import type { Batch, SkippedRow } from "../data/options.ts";
import type { Shard } from "../train/plan.ts";

/** The rows of a shard, those that were left out counted among all. */
export async function* shardedRows(
  batches: AsyncIterable<Batch>,
  { index, count }: Shard,
): AsyncGenerator<Batch> {
  let place = 0;
  const own = (): boolean => place++ % count === index - 1;
  for await (const batch of batches) {
    const rows: number[] = [];
    const skipped: SkippedRow[] = [];
    const left = [...batch.skipped];
    for (let row = 0; row <= batch.features.rows; row++) {
      for (; left[0]?.rowsBefore === row; left.shift())
        if (own()) skipped.push({ ...left[0], rowsBefore: rows.length });
      if (row < batch.features.rows && own()) rows.push(row);
    }
    yield { ...selectRows(batch, rows), skipped };
  }
}
