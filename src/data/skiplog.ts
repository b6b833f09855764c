// The broken rows that a lenient reader skipped: all counted, the first hundred listed.

import type { SkippedRow, SkippedRows } from "./options.ts";

const MOST_LISTED = 100;

export class SkipLog implements SkippedRows {
  total = 0;
  readonly byReason: Record<string, number> = {};
  readonly rows: SkippedRow[] = [];

  add(row: SkippedRow): void {
    this.total++;
    this.byReason[row.reason] = (this.byReason[row.reason] ?? 0) + 1;
    if (this.rows.length < MOST_LISTED) this.rows.push(row);
  }
}
