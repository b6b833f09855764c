// Flags that say which labels are probable enough.

import { type ThresholdChoice, thresholdWords } from "../metrics/cut.ts";
import { type Flags, given, type Parsed } from "./flags.ts";

/** `only` begins what the help says of a threshold. */
export const cutFlags = (only: string): Flags => ({
  threshold: {
    kind: "number",
    words: thresholdWords,
    from: 0,
    to: 1,
    value: "P|best|label",
    help: `${only} labels at least this probable; best and label (each its own) are for the best F1`,
  },
  precision: {
    kind: "number",
    above: 0,
    to: 1,
    value: "P",
    help: "the model's thresholds for this precision, not for the best F1",
  },
});

/** What these flags say. */
export const cutOf = (parsed: Parsed): ThresholdChoice =>
  given({
    threshold: parsed.value("threshold") as ThresholdChoice["threshold"],
    precision: parsed.number("precision"),
  });
