// The parts of a model: those that were asked for, or what `auto`, the default, stands for: the first of these plans that the sizes of
// the data allow (bench/DEFAULTS.md has the measurements behind the rule).

import { ArgumentError } from "../base/errors.ts";
import { counted } from "../base/numbers.ts";
import type { Dataset } from "../data/dataset.ts";
import { type FamilyName, families, familyNames } from "../parts/index.ts";
import { type TrainOptions, trainOptions } from "../parts/options.ts";

/** Plans of `auto`, best first; the last one is always possible. */
const PLANS: readonly (readonly FamilyName[])[] = [["gpr"], ["sgpr"], ["linear", "svgp"], ["svgp"]];
const LAST = PLANS.at(-1) as readonly FamilyName[];

export interface ChosenParts {
  readonly names: readonly FamilyName[];
  /** Why `auto` has chosen them, in a sentence. */
  readonly reason?: string;
}

/** Options that any model has; all others are about minibatches, which only the last plan has. */
const FOR_ANY = ["model", "names", "calibration", "exclusive", "kernel", "idf", "normalise", "seed"];

export function chosenParts(
  options: TrainOptions,
  data: Pick<Dataset, "features" | "labels">,
  dense = false,
): ChosenParts {
  const { model = "auto", calibration = true } = options;
  if (model !== "auto") return { names: askedFor(model) };
  const last = (why: string): ChosenParts => ({ names: LAST, reason: inWords(LAST, why) });
  if (!calibration) return last("only its scores are probabilities without calibration");
  const against: string[] = [];
  for (const names of PLANS) {
    const obstacle = names.map((name) => families[name].obstacle?.(data, dense)).find((found) => found);
    if (obstacle !== undefined) against.push(obstacle);
    else if (names === LAST) return last(against.at(-1) as string);
    else {
      const own = Object.entries(options).find(([name, value]) => isOfSteps(name) && value !== undefined);
      if (own && !names.includes(LAST[0])) return last(`${own[0]} is about minibatches`);
      const rows = counted(data.features.rows, "row");
      return { names, reason: inWords(names, against[0] ?? `${rows} are few enough`) };
    }
  }
  return last("it takes any data");
}

/** Families that a model can be asked for by name. */
export const fittedFamilies: readonly FamilyName[] = familyNames.filter((name) => families[name].fit);

function askedFor(model: string): readonly FamilyName[] {
  const names = String(model).split("+") as FamilyName[];
  const unknown = names.find((name) => !fittedFamilies.includes(name));
  if (unknown !== undefined)
    throw new ArgumentError("model", `found ${unknown}, expected parts among ${fittedFamilies.join(", ")}`);
  return names;
}

const inWords = (names: readonly FamilyName[], why: string): string =>
  `Model: ${names.map((name) => families[name].title).join(" and ")} (${why})`;

/** The options of a training that say something of a model of these parts. */
export const optionsFor = <T extends object>(options: T, parts: readonly { family: string }[]): Partial<T> =>
  Object.fromEntries(
    Object.entries(options).filter(
      ([name]) => !isOfSteps(name) || parts.some(({ family }) => LAST.some((each) => each === family)),
    ),
  ) as Partial<T>;

const isOfSteps = (name: string): boolean => Object.hasOwn(trainOptions, name) && !FOR_ANY.includes(name);
