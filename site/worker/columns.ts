// The columns to choose from, where a file has others than were looked for.

import { DataError } from "../../src/data/index.ts";
import type { MissingColumn } from "./messages.ts";

const CHOSEN = ["text", "labels", "id"] as const;

export function missingColumn(error: unknown): MissingColumn | undefined {
  if (!(error instanceof DataError)) return undefined;
  const { names = [], option } = error;
  const of = CHOSEN.find((each) => each === option);
  return names.length > 0 && of !== undefined ? { names, of } : undefined;
}
