// Reports to test with, and a small reader of HTML that refuses what is not well formed.

import { wasmBackend } from "../../src/backend/wasm.ts";
import { labelFrequencies } from "../../src/base/sparse.ts";
import { createCore } from "../../src/core/core.ts";
import type { Dataset } from "../../src/data/dataset.ts";
import type { Model } from "../../src/model/model.ts";
import type { SvgpPart } from "../../src/parts/svgp/shape.ts";
import { openPredictor } from "../../src/predict/open.ts";
import { collectReport, type ReportInput } from "../../src/report/collect.ts";
import { TrainingHistory } from "../../src/report/history.ts";
import { randomNumbers } from "../support/numbers.ts";
import { topicData } from "../support/problems.ts";

export interface Example {
  model: Model;
  part: SvgpPart;
  data: Dataset;
  input: ReportInput;
  /** Mean utilities and probabilities of all points. */
  probability: number[];
}

/** A model with made-up parameters. */
export function madeUpModel(data: Dataset, names?: readonly string[]): Model & { parts: [SvgpPart] } {
  const [d, k, p, m] = [data.features.columns, data.labels.labels, 6, 5];
  const scaled = (count: number, seed: number, by: number): Float32Array =>
    Float32Array.from(randomNumbers(count, seed), (value) => by * value);
  return {
    schema: {
      features: d,
      labels: k,
      points: 4321,
      transform: { normalise: true },
      labelCounts: labelFrequencies(data.labels),
      ...(names ? { labelNames: names } : {}),
    },
    parts: [
      {
        family: "svgp",
        kernel: "linear",
        posterior: "shared",
        mean: "features",
        factors: p,
        inducingPoints: m,
        inducingInputs: scaled(d * m, 1, 1),
        mu: scaled(d * p, 2, 2),
        sigma: Float32Array.from({ length: m }, () => 1),
        phi: scaled(k * p, 3, 1),
        bias: Float32Array.from(randomNumbers(k, 4), (value) => value - 2),
        hyper: Float32Array.of(0, 0, 0),
      },
    ],
    summary: {
      options: { kernel: "linear", seed: 12345678901, learningRate: 0.03, idf: "auto", normalise: true },
      droppedPoints: 7,
      steps: 100,
      epochs: 2.5,
      dataTerm: -3000,
      divergence: 200,
      raisedFactorisations: 0,
    },
  };
}

/** The progress of a training that learns, as a report sees it. */
export function madeUpHistory(steps = 40): TrainingHistory {
  const watched = new TrainingHistory();
  watched.record({ stage: "note", text: "2 threads" });
  for (let step = 1; step <= steps; step++) {
    const round = Math.ceil((10 * step) / steps);
    watched.record({
      stage: "training",
      step,
      steps,
      epoch: step / 8,
      dataTerm: -5000 / step,
      divergence: 20 * step,
      bound: -5000 / step - 20 * step,
      pointsPerSecond: 1234,
      secondsLeft: 1,
      validation: { "P@1": 5 * round, "P@3": 4 * round, "P@5": 3 * round },
    });
  }
  return watched;
}

export async function example(
  options: { labels?: number; points?: number; names?: readonly string[]; measured?: boolean } = {},
): Promise<Example> {
  const { labels = 30, points = 300, names, measured = true } = options;
  const data = topicData({ points, features: 50, labels, unlabelledEvery: 50 }, 5);
  const model = madeUpModel(data, names);
  const core = await createCore({ threads: 1 });
  const backend = wasmBackend(core, "f32");
  const predictor = openPredictor(core, backend, model);
  const watched = madeUpHistory();
  const probability: number[] = [];
  for await (const scores of predictor.score(data.features, { probability: true })) {
    for (const value of scores.probability ?? []) probability.push(value);
  }
  const input = await collectReport({
    model,
    bytes: 4_560_000,
    title: "made-up topics",
    run: { seconds: 75, machine: "Node 20 on linux", notes: watched.notes },
    history: watched,
    ...(measured ? { measure: { predictor, data, file: "held-out topics" } } : {}),
  });
  backend.dispose();
  core.dispose();
  return { model, part: model.parts[0], data, input, probability };
}

export interface Element {
  tag: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
}

const VOID = new Set(["meta", "br", "hr", "img", "input", "link", "wbr"]);
const RAW = /^(script|style)$/;
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const decode = (text: string): string => text.replace(/&(#?\w+);/g, (_, name) => entities[name] ?? `?${name}?`);

/** The tree of a document in which every element is closed in order and every attribute is quoted. */
export function parseHtml(text: string): Element {
  const root: Element = { tag: "", attributes: {}, children: [] };
  const open = [root];
  const token = /<!doctype html>|<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+(?:="[^"<]*")?)*)\s*(\/?)>|([^<]+)/gy;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [, closing, tag, attributes = "", empty, words] = found;
    const inside = open.at(-1) as Element;
    if (words !== undefined) inside.children.push(decode(words));
    else if (tag !== undefined && closing) {
      if (inside.tag !== tag) throw new Error(`found </${tag}> inside <${inside.tag}> at ${found.index}`);
      open.pop();
    } else if (tag !== undefined) {
      const pairs = [...attributes.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)];
      const element = {
        tag,
        attributes: Object.fromEntries(pairs.map(([, name, value]) => [name, decode(value ?? "")])),
        children: [] as (Element | string)[],
      };
      inside.children.push(element);
      if (RAW.test(tag)) {
        const end = text.indexOf(`</${tag}`, token.lastIndex);
        element.children.push(text.slice(token.lastIndex, end));
        token.lastIndex = end;
        open.push(element);
      } else if (!empty && !VOID.has(tag)) open.push(element);
    }
    if (token.lastIndex === text.length) break;
  }
  if (token.lastIndex !== text.length || open.length > 1)
    throw new Error(`found something that is no HTML in <${open.at(-1)?.tag}>`);
  return root;
}

/** All elements below, in the order of the document. */
export function elements(root: Element): Element[] {
  return root.children.flatMap((child) => (typeof child === "string" ? [] : [child, ...elements(child)]));
}

export function textOf(node: Element | string): string {
  return typeof node === "string" ? node : node.children.map(textOf).join("");
}

/** The cells of a table's body, row by row. */
export function tableRows(root: Element, id: string): string[][] {
  const table = elements(root).find(({ tag, attributes }) => tag === "table" && attributes.id === id);
  if (!table) throw new Error(`found no table ${id}`);
  const body = elements(table).find(({ tag }) => tag === "tbody") as Element;
  return elements(body)
    .filter(({ tag }) => tag === "tr")
    .map((row) => row.children.filter((cell) => typeof cell !== "string").map(textOf));
}
