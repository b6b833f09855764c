// A model that is to take over answers some questions of its own first: what it makes at its first answer, and what the engine
// compiles meanwhile (170 to 200 ms of processor time with 2,000 documents, whatever came before), nobody then waits for.

import { isMarked } from "../../data/text.ts";
import type { LoadedModel } from "../../predict/load.ts";

/** Questions by themselves, and so many together, of so many words. */
const [ALONE, TOGETHER, WORDS] = [8, 16, 24];

export async function warmUp(model: LoadedModel): Promise<void> {
  const words = (model.model.vectoriser?.terms ?? []).filter((term) => !isMarked(term));
  const texts = Array.from({ length: TOGETHER }, (_, i) => words.slice(i * WORDS, (i + 1) * WORDS).join(" "));
  for (const text of texts.slice(0, ALONE)) await model.predict([text]);
  await model.predict(texts, { sd: false }); // as suggestions are asked for
}
