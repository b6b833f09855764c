// A model is a sum of parts. A part is plain data, and its family (one folder each) owns everything that is done with it: fitting,
// scoring by blocks and by row, files, the compact form, and where it has them shares of words, variance and learning.
// Training, loading, evaluating, explaining, compacting and learning loop over parts and know no family.

import type { Backend } from "../backend/backend.ts";
import type { KernelName } from "../base/kernels.ts";
import type { WorkOptions } from "../base/progress.ts";
import type { Tensor } from "../base/safetensors.ts";
import type { LabelSets, SparseRows } from "../base/sparse.ts";
import type { TensorReader } from "../base/tensors.ts";
import type { Core, Precision } from "../core/core.ts";
import type { Matrix } from "../core/matrix.ts";
import type { Dataset } from "../data/dataset.ts";
import type { CompactChoices, CompactOptions, CompactWriter } from "./compact.ts";
import type { FullTrainOptions } from "./options.ts";
import type { Bounds } from "./overflow.ts";
import type { Predictor } from "./predictor.ts";
import type { Change, Documents } from "./regression/documents.ts";
import type { rowKernel } from "./regression/kernel.ts";
import type { LeaveOneOutPoints } from "./regression/leaveoneout.ts";
import type { LearningState, StatePlan } from "./regression/state.ts";
import type { LogitMover } from "./row.ts";
import type { FullRunOptions, TrainingSummary } from "./run.ts";
import type { ModelSchema } from "./schema.ts";

export type { ModelSchema } from "./schema.ts";

/** Cost of a fit: bytes of a core's memory at its height, and operations. */
export interface Cost {
  readonly bytes: number;
  readonly operations: number;
}

/** A fit is given this. */
export interface FitContext {
  readonly core: Core;
  readonly data: Dataset;
  readonly heldOut: Dataset | undefined;
  readonly schema: ModelSchema;
  readonly options: FullTrainOptions;
  /** Where features are dense: the options that the caller has set of those that are chosen by looking at the features. */
  readonly dense: { readonly kernel?: unknown; readonly normalise?: boolean | undefined } | undefined;
  readonly run: FullRunOptions;
  readonly work: WorkOptions;
  readonly note: (text: string) => void;
  /** Log loss of a fit, calibrated by leave-one-out. */
  readonly looLoss: (fit: Fit<PartData>, schema: ModelSchema, work: WorkOptions) => Promise<number>;
  /** Figures on validation data. */
  readonly measure: (predictor: Predictor, data: Dataset, logLoss: boolean) => Promise<Record<string, number>>;
}

/** A part that follows another one is given this. */
export type FollowContext = Pick<FitContext, "core" | "schema" | "work">;

/** A fitted part. */
export interface Fit<P> {
  readonly part: P;
  /** Leave-one-out scores, where the family has them. */
  readonly loo?: LeaveOneOutPoints;
  /** The schema and options, where the fit has chosen some of them. */
  readonly schema?: ModelSchema;
  readonly options?: FullTrainOptions;
  readonly summary?: Partial<TrainingSummary>;
  /** Where the model is to go on learning: what learns, and the documents that it has learned. */
  readonly learning?: { readonly learner: PartLearner<P>; readonly documents: Documents };
  free?(): void;
}

/** A block of rows to score. */
export interface RowBlock {
  readonly first: number;
  /** As they were given, and weighted and scaled. */
  readonly given: SparseRows;
  readonly rows: SparseRows;
  /** Scores of the parts before this one [n,K]. */
  readonly before: readonly Matrix[];
}

/** Standard deviation of the score of a label of a row of the block. */
export type Deviation = (row: number, label: number) => number;

/** Scores blocks of rows. */
export interface BlockScorer {
  /** out [n,K] = the scores; with `deviations` their standard deviations too, where the family has them. */
  score(block: RowBlock, out: Matrix, deviations: boolean): Promise<Deviation | undefined>;
  /**
   * Scores of a few labels of a row, and of the same row without each list of its entries, no two of which have the same one
   * [1 + lists,labels], where that takes much less time.
   */
  scoreOf?(row: SparseRows, left: readonly (readonly number[])[], labels: readonly number[]): ArrayLike<number>;
  free(): void;
}

/** Shares of the entries of one row in the score of a label [entries]. */
export type Shares = (label: number) => Float64Array;

/** Posterior variance at rows that are weighted and scaled. */
export interface PosteriorVariance {
  /** lam, and the kernel that the posterior began with. */
  readonly noise: number;
  readonly prior: ReturnType<typeof rowKernel>;
  /** M, how many points it comes from. */
  readonly size: number;
  /** b [n,M], one a row: v(x) = k(x,x) - |b(x)|^2. */
  of(rows: SparseRows): Float32Array;
  /** v [n], and the posterior covariance with other rows k(x,z) - b(x).b(z) [n,m]. */
  together(rows: SparseRows, others: SparseRows): { variances: Float64Array; covariances: Float32Array };
  /** v / (k(x,x) + lam) [n]: the part of the variance of an observation that is not explained, from 0 to below 1. */
  unexplained(rows: SparseRows): Float64Array;
  free(): void;
}

/** Tensors and metadata of a part in a file; names get the family's name in front. */
export interface PartFile {
  tensors: Record<string, Tensor>;
  about: Record<string, unknown>;
}

/** Plain data of a part. */
export interface PartData {
  readonly family: string;
}

/** A part that goes on learning, in the memory of a core. */
export interface PartLearner<P> {
  /** Every document is kept; if not, those without an id are not. */
  readonly keepsAll: boolean;
  /** Rows as the documents of the state have them. */
  rows(features: SparseRows): SparseRows;
  /** The part after a change of its documents, with the schema's counts as they are then. */
  learn(change: Change, schema: ModelSchema, work: WorkOptions): Promise<Fit<P>>;
  /** The last change was taken over: what follows goes on from it. */
  settle?(): void;
  /** Sums and solution for a state; without `whole` only the totals that its identity is made of. */
  capture(plan: StatePlan, whole: boolean): LearningState;
  free(): void;
}

/** Learning: documents come in, are corrected and are forgotten. */
export interface Learning<P> {
  /** Everything that decides the features of a document: numbers as JSON, and arrays. */
  plan(part: P, schema: ModelSchema): Omit<StatePlan, "identity"> & { readonly arrays: readonly ArrayBufferView[] };
  open(part: P, schema: ModelSchema, core: Core, state: LearningState): PartLearner<P>;
}

/** Sums over shards of the data, on as many machines as there are. */
export interface Shards<P> {
  /** The plan that all shards must agree on, as JSON. */
  plan(data: Dataset): Record<string, unknown>;
  /** Refuses a plan that is none. */
  check(about: Readonly<Record<string, unknown>>, schema: ModelSchema): void;
  sums(
    core: Core,
    data: Dataset,
    schema: ModelSchema,
    about: Readonly<Record<string, unknown>>,
    plan: Pick<StatePlan, "identity" | "columns" | "about">,
  ): LearningState;
  /** The part of all sums, with the schema's counts. */
  solve(
    core: Core,
    whole: LearningState,
    schema: ModelSchema,
    about: Readonly<Record<string, unknown>>,
    work: WorkOptions,
  ): Promise<Fit<P>>;
}

/** Pairs of points and labels with the calibrated logits that they have without a part. */
export interface LogitPairs {
  readonly row: ArrayLike<number>;
  readonly label: ArrayLike<number>;
  /** As how many pairs each counts, below 0 where the point does not have the label. */
  readonly signedWeight: ArrayLike<number>;
  readonly logits: Float64Array;
}

/** Points that a part which moves logits is fitted to: the parts before have not seen their labels. */
export interface MovedPoints {
  readonly texts: readonly string[];
  /** They are among the points that the schema counts. */
  readonly leftOut: boolean;
  /** Their labels, where these may be beyond the schema's. */
  readonly labels?: LabelSets;
}

/** A training as the fit of such a part sees it: its options and the texts of its points. */
export interface MoverData {
  readonly schema: ModelSchema;
  readonly names: FullTrainOptions["names"];
  readonly texts: readonly string[];
}

/** Where it is fitted. */
export type MoverContext = Pick<FitContext, "schema" | "work" | "note">;

/** Fits a part that moves logits. */
export interface MoverFit<P> {
  /** Labels of the schema that a pair is wanted of, by row. */
  wanted(row: number): readonly number[];
  /** The part, and the logits that pairs have with it; undefined where it does not help. */
  fit(pairs: LogitPairs): Promise<{ readonly part: P; moved(pairs: LogitPairs): MovedPairs } | undefined>;
}

/** Logits of pairs, and of labels beyond the schema's that the rows of these could have been given wrongly. */
export interface MovedPairs {
  readonly logits: Float64Array;
  readonly beyond: { readonly row: Int32Array; readonly logits: Float64Array };
}

/** Points of a part as if they were new. */
export interface LeftOutPoints<P> {
  /** The part, which knows of these points where it is made small. */
  readonly part: P;
  /** Weighted and scaled. */
  readonly rows: SparseRows;
  /** Their leave-one-out scores less their scores [n,K]. */
  readonly rest: Float32Array;
}

export interface Family<P extends PartData> {
  readonly name: P["family"];
  /** Its name for people. */
  readonly title: string;
  /** The name of its score, as a calibrator has it; a part without one moves logits. */
  readonly score?: string;
  mover?(part: P, schema: ModelSchema): LogitMover;
  /** Labels beyond those of a schema that it would have with these names. */
  unseen?(names: FullTrainOptions["names"], schema: ModelSchema): string[];
  /** All that a mover takes from the texts of a training, as plain JSON; undefined where there is nothing to fit. */
  planMover?(data: MoverData, work: WorkOptions): Promise<object | undefined>;
  /** Begins to fit what was planned, or to measure a part that there is. */
  fitMover?(context: MoverContext, points: MovedPoints, planned: object | P): Promise<MoverFit<P> | undefined>;

  /** It has leave-one-out scores: no points need be held out for calibration. */
  readonly loo?: true;
  /** It computes on the device that is asked for; if not, the core does. */
  readonly onDevice?: true;
  /** The kernel where none is asked for; linear if not given. */
  readonly defaultKernel?: KernelName;
  /** Why `auto` does not take it for these data, in a few words; undefined where it does. */
  obstacle?(data: Pick<Dataset, "features" | "labels">, dense: boolean): string | undefined;
  /** Cost of fitting it, with all that is chosen and tried. */
  cost?(data: Pick<Dataset, "features" | "labels">, dense: boolean, options: FullTrainOptions): Cost;
  /** Fits a part to the points; a part without it follows another one. */
  fit?(context: FitContext): Promise<Fit<P>>;
  /** Fits it to the leave-one-out scores of another part; undefined where it would not help. */
  follow?(context: FollowContext, loo: LeaveOneOutPoints): Promise<Fit<P> | undefined>;
  open?(part: P, schema: ModelSchema, on: { core: Core; backend: Backend }): BlockScorer;
  /** A predictor of its own, where its scores are probabilities without a calibrator. */
  predictor?(part: P, schema: ModelSchema, backend: Backend): Predictor;
  /** The precision it was trained in; single if not given. */
  precision?(part: P): Precision;
  toFile(part: P, schema: ModelSchema): PartFile;
  fromFile(reader: TensorReader, about: Readonly<Record<string, unknown>>, schema: ModelSchema): P;
  /** Writes the tensors that row.ts of the family reads; returns what the file says of the part. */
  compact(
    part: P,
    schema: ModelSchema,
    writer: CompactWriter,
  ): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** How it is made small where that is not said; refuses what cannot be. */
  compactChoices?(part: P, given: CompactOptions): CompactChoices;
  /** Some of its points as if they were new, where it can tell. */
  leaveOut?(part: P, schema: ModelSchema, count: number): LeftOutPoints<P> | undefined;
  bounds(part: P, schema: ModelSchema): Bounds;
  /** Shares of the entries of a row in its scores, where these are linear in the features. */
  shares?(part: P, schema: ModelSchema, row: SparseRows): Shares | undefined;
  readonly learning?: Learning<P>;
  readonly shards?: Shards<P>;
  /** The part with room for the labels of a schema that has more of them; parts that learn need none. */
  grow?(part: P, schema: ModelSchema): P;
  variance?(part: P, schema: ModelSchema, core: Core, work: WorkOptions): Promise<PosteriorVariance>;
  /** The features that have weights, rising, where not all have. */
  columns?(part: P): Int32Array;
}
