// Names of labels: labels that stand in a text are likelier, also those that no training document has.

import type { Tensor } from "../../base/safetensors.ts";
import { Stems } from "../../base/stem.ts";
import { integerTensor, realTensor } from "../../base/tensors.ts";
import { loadedStemmer } from "../../data/stemmers.ts";
import type { FullTrainOptions } from "../options.ts";
import type { Family, ModelSchema, MovedPairs } from "../part.ts";
import type { LogitMover } from "../row.ts";
import { countWords, FREE, lossOf, namesFit } from "./fit.ts";
import { type NamedLabel, NameMatcher, nameMover, namesFrom, numbersOf, type WordCounts } from "./row.ts";

export interface NamesPart extends WordCounts {
  readonly family: "names";
  readonly labels: readonly NamedLabel[];
  readonly weights: Float64Array;
}

/** The labels and the counts of a training, before there are weights. */
interface NamesPlan {
  readonly labels: readonly NamedLabel[];
  readonly frequency: readonly number[];
  readonly documents: number;
  /** Somebody gave the names: they are kept whether or not they help. */
  readonly asked: boolean;
}

/** Between the levels of a label: `use::gameplaying`, `a/b/c`, `a > b`. */
const LEVELS = /::|\/|\\|>|\|/;
/** Words, not a number or a code: two letters in a row, or a sign that is a word. */
const WORDS = /\p{L}{2}|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/** The names that a label's own text gives it: its last level, then those above; none of an address or a number. */
function ownNames(label: string): string[] {
  if (label.includes("://")) return [];
  const levels = label.split(LEVELS).map((level) => level.trim());
  return levels.reverse().filter((level) => WORDS.test(level));
}

/** The labels that have names, in a fixed order. */
function namedLabels(names: FullTrainOptions["names"], labelNames: readonly string[] = []): NamedLabel[] {
  if (names === "off") return [];
  const given: [string, readonly string[]][] =
    names === "labels"
      ? labelNames.map((label) => [label, ownNames(label)])
      : Object.entries(names).map(([label, own]) => [label, typeof own === "string" ? [own] : own]);
  return given.filter(([, own]) => own.length > 0).map(([label, own]): NamedLabel => [label, ...own]);
}

const matchers = new WeakMap<NamesPart["labels"], NameMatcher>();

/** The matcher of a part, made once. */
function matcherOf(part: NamesPart, schema: ModelSchema): NameMatcher {
  const known = matchers.get(part.labels) ?? newMatcher(part.labels, schema).prepare(part);
  matchers.set(part.labels, known);
  return known;
}

function newMatcher(labels: readonly NamedLabel[], { vectoriser }: ModelSchema): NameMatcher {
  const language = vectoriser?.options.stem;
  return new NameMatcher(labels, language === undefined ? undefined : new Stems(loadedStemmer(language)), language);
}

const movers = new WeakMap<ModelSchema, { part: NamesPart; mover: LogitMover }>();

export const names: Family<NamesPart> = {
  name: "names",
  title: "names of labels",
  mover(part, schema): LogitMover {
    const known = movers.get(schema);
    if (known?.part === part) return known.mover;
    const labelNames = schema.labelNames ?? [];
    const mover = nameMover(matcherOf(part, schema), part.weights, part.documents, labelNames, schema.labelCounts);
    movers.set(schema, { part, mover });
    return mover;
  },
  unseen(given, { labelNames = [] }) {
    const labels = namedLabels(given, labelNames);
    const numbers = numbersOf(labels, labelNames);
    return labels.filter((_, entry) => numbers[entry] >= labelNames.length).map(([label]) => label);
  },
  async planMover({ schema, names: wanted, texts }, work): Promise<NamesPlan | undefined> {
    const labels = namedLabels(wanted, schema.labelNames);
    if (labels.length === 0 || texts.length === 0 || schema.exclusive) return undefined;
    const { frequency, documents } = await countWords(newMatcher(labels, schema), texts, work);
    return { labels, frequency: [...frequency], documents, asked: typeof wanted !== "string" };
  },
  async fitMover({ schema, work, note }, points, planned) {
    const part = "weights" in planned ? (planned as NamesPart) : undefined;
    const { labels, documents, ...plan } = planned as NamesPlan | NamesPart;
    if (schema.exclusive) return undefined;
    const counts = { frequency: Int32Array.from(plan.frequency), documents };
    const matcher = part ? matcherOf(part, schema) : newMatcher(labels, schema).prepare(counts);
    const numbers = numbersOf(labels, schema.labelNames ?? []);
    const fit = await namesFit({ ...points, matcher, numbers, labelCounts: schema.labelCounts }, work);
    return {
      wanted: (row) => fit.standing(row),
      async fit(pairs) {
        const weights = part?.weights ?? (await fit.fit(pairs, work));
        const moved = (other: typeof pairs): MovedPairs => fit.moved(other, weights);
        if (part) return { part, moved };
        const [before, after] = [pairs, moved(pairs)].map(({ logits }) => lossOf(pairs.signedWeight, logits));
        const change = `log loss ${(before / points.texts.length).toFixed(2)} -> ${(after / points.texts.length).toFixed(2)}`;
        const found = `Names of ${labels.length.toLocaleString("en")} labels are looked for in the texts (${change})`;
        if (!("asked" in plan && plan.asked) && before - after < FREE) return undefined;
        note(found);
        const made: NamesPart = { family: "names", labels, weights, ...counts };
        matchers.set(labels, matcher);
        return { part: made, moved };
      },
    };
  },
  toFile: ({ labels, frequency, documents, weights }) => ({
    about: { documents },
    tensors: {
      labels: bytesTensor(namesBytes(labels)),
      frequency: integerTensor(frequency),
      weights: realTensor(weights),
    },
  }),
  fromFile: (reader, about) => ({ family: "names", ...namesFrom(reader, about) }),
  compact({ labels, frequency, documents, weights }, _, writer) {
    writer.bytes("labels", namesBytes(labels));
    writer.integers("frequency", frequency);
    writer.doubles("weights", weights);
    return { documents };
  },
  bounds: () => () => [0],
};

const bytesTensor = (data: Uint8Array): Tensor => ({ dtype: "U8", shape: [data.length], data });

const namesBytes = (labels: readonly NamedLabel[]): Uint8Array => new TextEncoder().encode(JSON.stringify(labels));
