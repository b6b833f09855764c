// The families by name: a new one is its folder and its place in this table.

import { coupling } from "./coupling/part.ts";
import { gpr } from "./gpr/part.ts";
import { linear } from "./linear/part.ts";
import { names } from "./names/part.ts";
import type { FullTrainOptions } from "./options.ts";
import type { Family, ModelSchema, PartData } from "./part.ts";
import type { LogitMover } from "./row.ts";
import { sgpr } from "./sgpr/part.ts";
import { svgp } from "./svgp/part.ts";

type Families = typeof gpr | typeof sgpr | typeof linear | typeof coupling | typeof svgp | typeof names;
/** In the order in which the scores of a model's parts stand. */
const table: readonly Families[] = [gpr, sgpr, linear, coupling, svgp, names];

type PartOf<F> = F extends Family<infer P> ? P : never;
/** A part of a model. */
export type Part = PartOf<Families>;
export type FamilyName = Part["family"];

export const familyNames: readonly FamilyName[] = table.map(({ name }) => name);
export const families: Readonly<Record<FamilyName, Family<Part>>> = Object.fromEntries(
  table.map((family) => [family.name, family]),
) as unknown as Record<FamilyName, Family<Part>>;

/** The family of a part. */
export const familyOf = (part: PartData): Family<Part> => families[part.family as FamilyName];

/** Those of the parts that give scores; others move the logits that a calibrator makes of these. */
export const scoring = <P extends PartData>(parts: readonly P[]): readonly P[] =>
  parts.filter((part) => familyOf(part).score !== undefined);

/** The names of their scores. */
export const scoreNames = (parts: readonly PartData[]): string[] => parts.flatMap((part) => familyOf(part).score ?? []);

/** Labels that names would add to those of a schema. */
export const unseenNames = (given: FullTrainOptions["names"], schema: ModelSchema): string[] =>
  table.flatMap((family) => family.unseen?.(given, schema) ?? []);

/** The part that moves the logits, where there is one. */
export const moverOf = (parts: readonly Part[], schema: ModelSchema): LogitMover | undefined =>
  parts.map((part) => familyOf(part).mover?.(part, schema)).find((mover) => mover);
