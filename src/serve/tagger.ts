// What the server needs of a tagger. That of mlgpf/edge is one; so is anything else with these members.

/** A text, values by feature name or number, or the same as two lists. */
export type TaggerInput =
  | string
  | Readonly<Record<string, number>>
  | { readonly indices: ArrayLike<number>; readonly values: ArrayLike<number> };

export interface TaggerOptions {
  /** Most labels for an input. */
  readonly topK: number;
  /** Only labels at least this probable. */
  readonly threshold?: number;
}

export interface FoundLabel {
  readonly label: string | number;
  readonly probability: number;
  /** Standard deviation of the utility, where the model knows it. */
  readonly sd?: number;
}

export interface Tagger {
  readonly labels: ArrayLike<string>;
  /** What /health and /metrics say of the model. */
  readonly info?: object;
  predictMany(
    inputs: readonly TaggerInput[],
    options: TaggerOptions,
  ): readonly (readonly FoundLabel[])[] | Promise<readonly (readonly FoundLabel[])[]>;
}
