// Whether a model that keeps every document has room for more: refused before they are taken, since what was taken and cannot
// be learned stops all learning.

import { mostExact } from "../../train/exact.ts";
import { Refusal } from "../refusal.ts";
import type { LearnedModel } from "./messages.ts";

/** `waiting` were taken and are not learned yet. New labels take room too, so they leave less for documents. */
export function checkRoom(
  { kept }: Pick<LearnedModel, "kept">,
  known: ReadonlySet<string>,
  waiting: readonly { readonly labels: readonly string[] }[],
  coming: readonly { readonly labels: readonly string[] }[],
): void {
  if (kept === undefined) return;
  const all = [...waiting, ...coming];
  const names = new Set(all.flatMap(({ labels }) => labels).filter((label) => !known.has(label)));
  const labels = known.size + names.size;
  const most = mostExact(labels);
  if (kept + all.length > most)
    throw new Refusal(
      507,
      `found ${kept + waiting.length} documents that were learned, expected at most ${most} with these and ${labels} labels: train the model anew`,
    );
}
