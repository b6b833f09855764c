// What the server needs of a tagger. That of mlgpf/edge is one; so is anything else with these members.

import type { LabelLists } from "../metrics/allowed.ts";
import type { ThresholdChoice } from "../metrics/cut.ts";
import type { Reason } from "../metrics/prediction.ts";

/** A text, values by feature name or number, or the same as two lists. */
export type TaggerInput =
  | string
  | Readonly<Record<string, number>>
  | { readonly indices: ArrayLike<number>; readonly values: ArrayLike<number> };

/** Which labels to give for an input. */
export interface TaggerOptions extends LabelLists {
  /** Most labels for an input; without it all that reach the threshold. */
  readonly topK?: number;
  /** Only labels at least this probable: a number, or a threshold of the model's own. */
  readonly threshold?: NonNullable<ThresholdChoice["threshold"]>;
  /** So many words that speak for each label, and as many against it. */
  readonly explain?: number;
  /** false: nobody asks for standard deviations. */
  readonly sd?: boolean;
}

/** A label that was predicted. */
export interface FoundLabel {
  readonly label: string | number;
  readonly probability: number;
  /** Standard deviation of the probability or, of models without a calibrator, of the utility; where the model knows it. */
  readonly sd?: number;
  /** Why, where asked for. */
  readonly reasons?: readonly Reason[];
}

/** The labels of an input. */
export interface FoundLabels extends ReadonlyArray<FoundLabel> {
  /** Part of the input that the model knows, where it says so. */
  readonly known?: number;
}

/** What predicts. An input that it cannot take is refused by an error called ArgumentError. */
export interface Tagger {
  readonly labels: ArrayLike<string>;
  /** What /health and /metrics say of the model. */
  readonly info?: object;
  predictMany(
    inputs: readonly TaggerInput[],
    options: TaggerOptions,
  ): readonly FoundLabels[] | Promise<readonly FoundLabels[]>;
}
