// Fitting exact GP regression: one factorisation for all labels, and everything that is chosen or calibrated is so by
// leave-one-out.

import type { KernelName } from "../../base/kernels.ts";
import { Turns, type WorkOptions } from "../../base/progress.ts";
import { equalGroups, selectFeatures, selectLabels } from "../../base/sparse.ts";
import { STREAMS } from "../../base/streams.ts";
import type { Core } from "../../core/core.ts";
import { keeping, scoped } from "../../core/matrix.ts";
import type { Pattern } from "../../core/pattern.ts";
import { permutation } from "../../core/random.ts";
import { type Dataset, selectRows } from "../../data/dataset.ts";
import { transformedRows, transformInPlace } from "../../data/transform.ts";
import type { Fit, FitContext, ModelSchema } from "../part.ts";
import { documentsOf, type LabelledRows, selectLabelled } from "../regression/documents.ts";
import type { KernelNoise } from "../regression/kernel.ts";
import { precisionOf, squaredErrorOf } from "../regression/leaveoneout.ts";
import { type InnerProducts, keptProducts, placeDocuments, spreadOver } from "../regression/points.ts";
import { chooseDense } from "./dense.ts";
import { fitExact } from "./exact.ts";
import { exactLearner } from "./learn.ts";
import { equalRows, fitDocuments, type GprPart, type PlacedDocuments } from "./posterior.ts";
import { chooseViews, type ErrorsOf } from "./views.ts";

/** Up to so many points the smaller noise is better. */
const FEW_POINTS = 10_000;
/** Points that kernels are compared on, spread over all. */
const COMPARED_ON = 4000;
/** Dual weights beyond it are made again for the choice that was best: two of them would take too much room. */
const MOST_KEPT = 5e7;

/** Length scale and noise: wide, or narrow with less noise; leave-one-out figures are flat in between. */
const choicesFor = (name: KernelName, points: number): KernelNoise[] => [
  { noise: points > FEW_POINTS ? 0.4 : 0.2, kernel: { name, lengthScale: 1 } },
  { noise: 0.1, kernel: { name, lengthScale: 0.7 } },
];

/** Documents as the kernel sees them, with the schema and options that were chosen for them, in a random order. */
export interface KernelProblem extends PlacedDocuments {
  readonly documents: LabelledRows;
  readonly order: ArrayLike<number>;
  readonly schema: ModelSchema;
  readonly options: FitContext["options"];
  readonly choice: KernelNoise;
}

/** Chooses kernel and noise by leave-one-out and puts the points in a random order: the last ones are a fair sample of all. */
export async function kernelProblem(context: FitContext): Promise<KernelProblem> {
  const { core, data, work, note } = context;
  const { rows: points } = data.features;
  const turns = new Turns(work);
  await turns.take();
  const found = context.dense && (await chooseDense(context, exactLoss(context)));
  const options = found ? { ...context.options, ...found.options } : context.options;
  const schema = found?.schema ?? context.schema;
  const { order, documents } = await documentsInOrder(core, data, schema, options.seed, turns);
  return await keeping(async (scope) => {
    const placed = scope.keep(placeDocuments(core, documents, schema.labels, schema));
    if (turns.due) await turns.take();
    const problem = { documents, order, schema, options, placed };
    if (found) return { ...problem, choice: found.choice };
    const {
      choice: words,
      products,
      form,
    } = await chooseExact(problem, core, choicesFor(options.kernel, points), work);
    for (const made of [products, form]) if (made) scope.keep(made);
    note(`Length scale ${words.kernel.lengthScale} and noise ${words.noise}, chosen by leave-one-out`);
    const choice = schema.transform.views ? await chooseViews(context, documents, words, looErrors(context)) : words;
    const isFitted = form !== undefined && choice === words;
    (isFitted ? products : form)?.free();
    return { ...problem, choice, ...(isFitted ? { form } : products && { products }) };
  });
}

/** Calibrated leave-one-out log loss of some data for one choice. */
const exactLoss =
  ({ core, looLoss }: FitContext) =>
  async (some: Dataset, schema: ModelSchema, choice: KernelNoise, work: WorkOptions): Promise<number> => {
    const features = transformedRows(some.features, schema.transform, 0, some.features.rows);
    const fit = await fitDocuments(core, { features, labels: some.labels }, schema, choice, work);
    try {
      return await looLoss(fit, schema, work);
    } finally {
      fit.free?.();
    }
  };

/** Mean squared error of some documents when each is left out, by choice; `room` frees them. */
const looErrors =
  ({ core, work, schema }: FitContext): ErrorsOf =>
  async (some, room) => {
    const { points, labels } = room.keep(placeDocuments(core, some, schema.labels, schema));
    const products = room.keep(await keptProducts(points, work));
    const firstEqual = equalRows(some.features, schema.transform);
    return (choice) =>
      scoped(async (scope) => {
        const of = { ...work, ...choice, products, firstEqual, leftOut: points.rows };
        return await squaredErrorOf(scope.keep(await fitExact(points, labels, of)), labels, work);
      });
  };

/** All points as the kernel sees them, in a random order. */
async function documentsInOrder(
  core: Core,
  given: Dataset,
  { transform }: ModelSchema,
  seed: number,
  turns: Turns,
): Promise<Pick<KernelProblem, "order" | "documents">> {
  const drawn = permutation(core, given.features.rows, { seed, stream: STREAMS.exactOrder });
  if (turns.due) await turns.take();
  // Equal rows stand one after another, so that all of them or none are among the last ones.
  const order = equalGroups(drawn, equalRows(given.features, transform)).flat();
  if (turns.due) await turns.take();
  const features = selectFeatures(given.features, order);
  transformInPlace(features, transform);
  const labels = selectLabels(given.labels, order);
  if (turns.due) await turns.take();
  return { order, documents: { features, labels } };
}

/** The best of several choices, by the leave-one-out scores of a fit to some of the points; with what was made on the way where they are all. */
async function chooseExact(
  { documents, schema, placed }: Pick<KernelProblem, "documents" | "schema" | "placed">,
  core: Core,
  choices: readonly KernelNoise[],
  work: WorkOptions,
): Promise<Pick<KernelProblem, "choice" | "products" | "form">> {
  const rows = spreadOver(documents.features.rows, COMPARED_ON);
  const areAll = rows.length === documents.features.rows;
  const some = areAll ? documents : selectLabelled(documents, rows);
  const firstEqual = equalRows(some.features, schema.transform);
  const turns = new Turns(work);
  return await keeping(async (room) => {
    await turns.take();
    const { points, labels } = areAll ? placed : room.keep(placeDocuments(core, some, schema.labels, schema));
    await turns.take();
    const products = room.keep(await keptProducts(points, work));
    const { choice, form } = await bestExact(products, labels, choices, work, firstEqual);
    if (areAll) return { choice, products, form };
    form?.free();
    room.free();
    return { choice };
  });
}

/**
 * The choice with the best P@1 + P@3 + P@5 of points that are left out, or of a single label the least squared error; and where
 * there is room its fit, which is yours to free.
 */
export async function bestExact(
  products: InnerProducts,
  labels: Pattern,
  choices: readonly KernelNoise[],
  work: WorkOptions,
  firstEqual?: Int32Array,
): Promise<Pick<KernelProblem, "choice" | "form">> {
  const { points } = products;
  const isRanked = labels.columns > 1;
  const keeps = points.rows * labels.columns <= MOST_KEPT;
  return await keeping(async (scope) => {
    let best: (Pick<KernelProblem, "choice" | "form"> & { readonly figure: number }) | undefined;
    for (const choice of choices) {
      const options = { ...work, ...choice, products, firstEqual, leftOut: points.rows };
      const form = scope.keep(await fitExact(points, labels, options));
      const figure = isRanked ? await precisionOf(form, labels, work) : -(await squaredErrorOf(form, labels, work));
      const isBest = best === undefined || figure > best.figure;
      if (isBest) {
        best?.form?.free();
        best = { choice, form: keeps ? form : undefined, figure };
      }
      if (!isBest || !keeps) form.free();
    }
    return best as NonNullable<typeof best>;
  });
}

export async function fitGpr(context: FitContext): Promise<Fit<GprPart>> {
  const { core, data, run, work } = context;
  const { documents, order, schema, options, choice, ...known } = await kernelProblem(context);
  const learner = run.onState && exactLearner(core, choice, schema);
  const fit = await (learner
    ? learner.fit(documents, schema, work, known)
    : fitDocuments(core, documents, schema, choice, work, known));
  const learning = learner && { learner, documents: documentsOf(selectRows(data, order), fit.part.rows) };
  return { ...fit, loo: fit.loo && { ...fit.loo, order }, schema, options, learning };
}
