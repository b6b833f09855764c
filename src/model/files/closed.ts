// The part of a model file that holds a Gaussian posterior in closed form.

import type { SparseRows } from "../../data/dataset.ts";
import type { Tensor } from "../../io/safetensors.ts";
import type { ClosedModel, Evidence, KernelPart, LinearPart, ModelCommon, StackPart } from "../model.ts";
import { kernelNames } from "../names.ts";
import { closedReach, TOO_LARGE } from "../reach.ts";
import { type FilePart, type FileParts, realTensor, wholeTensor } from "./parts.ts";

/** What sums that were added to and taken from may be off by. */
const ROUNDING = 1e-3;

type ClosedNumbers = Pick<ClosedModel, "closed" | "labelMean" | "stack">;

export function closedToPart({ closed, labelMean, stack, labels: k }: ClosedModel): FilePart {
  const tensors = new Map<string, Tensor>([["labelMean", realTensor(labelMean, [k])]]);
  const metadata: Record<string, string> = { form: closed.form, noise: String(closed.noise) };
  if (closed.form !== "linear") {
    const { rows, dual } = closed;
    tensors.set("rowStart", wholeTensor(rows.rowStart));
    tensors.set("columnIndex", wholeTensor(rows.columnIndex));
    tensors.set("values", realTensor(rows.values, [rows.values.length]));
    tensors.set("dual", realTensor(dual, [rows.rows, k]));
    Object.assign(metadata, { closedKernel: closed.kernel, closedHyper: JSON.stringify(closed.hyper) });
  } else {
    tensors.set("columns", wholeTensor(closed.columns));
    tensors.set("weights", realTensor(closed.weights, [closed.columns.length, k]));
    if (closed.evidence) {
      tensors.set("evidence.squares", realTensor(closed.evidence.squares, [closed.columns.length]));
      metadata.evidenceShare = String(closed.evidence.share);
    }
  }
  if (stack) {
    tensors.set("stack.vectors", realTensor(stack.vectors, [k, stack.rank]));
    tensors.set("stack.weights", realTensor(stack.weights, [stack.rank, k]));
  }
  return { tensors, metadata };
}

export function closedFromParts(parts: FileParts, { features, labels: k }: ModelCommon): ClosedNumbers {
  const form = parts.name("form", ["exact", "inducing", "linear"]);
  const closed = form === "linear" ? linearPart(parts, features, k) : kernelPart(parts, form, features, k);
  const stack = parts.tensors.has("stack.vectors") ? stackPart(parts, k) : undefined;
  const labelMean = parts.singles("labelMean", [k]);
  if (!labelMean.every((mean) => mean >= -ROUNDING && mean <= 1 + ROUNDING))
    parts.refuse("a number in labelMean that is no frequency", "numbers from 0 to 1");
  const model = { closed, labelMean, ...(stack ? { stack } : {}) };
  return closedReach({ ...model, labels: k }) > 0 ? model : parts.refuse(TOO_LARGE.found, TOO_LARGE.expected);
}

/** A hyper-parameter whose logarithm single precision holds; a list that looks like one number is none. */
const isScale = (value: unknown): boolean => typeof value === "number" && value > 1e-36 && value < 1e36;

function kernelPart(parts: FileParts, form: KernelPart["form"], features: number, k: number): KernelPart {
  const hyper = parts.json("closedHyper");
  const right = Array.isArray(hyper) && hyper.length === 3 && hyper.every(isScale);
  if (!right) parts.refuse("metadata closedHyper", "three numbers above 0");
  const [points] = parts.shape("dual", 2) as [number, number];
  return {
    form,
    kernel: parts.name("closedKernel", kernelNames),
    hyper: hyper as KernelPart["hyper"],
    noise: parts.positive("noise"),
    rows: sparseRows(parts, points, features),
    dual: parts.singles("dual", [points, k]),
  };
}

function sparseRows(parts: FileParts, rows: number, columns: number): SparseRows {
  const entries = parts.shape("values", 1)[0] as number;
  const rowStart = parts.wholes("rowStart", rows + 1, entries + 1);
  const columnIndex = parts.wholes("columnIndex", entries, columns);
  let whole = rowStart[0] === 0 && rowStart[rows] === entries;
  for (let i = 0; i < rows && whole; i++) {
    const [from, to] = [rowStart[i] as number, rowStart[i + 1] as number];
    whole = from <= to;
    for (let e = from + 1; e < to && whole; e++)
      whole = (columnIndex[e - 1] as number) < (columnIndex[e] as number);
  }
  if (!whole) parts.refuse("training rows that are not in order", "rows with rising columns");
  return { rows, columns, rowStart, columnIndex, values: parts.singles("values", [entries]) };
}

function linearPart(parts: FileParts, features: number, k: number): LinearPart {
  const [kept] = parts.shape("weights", 2) as [number, number];
  return {
    form: "linear",
    noise: parts.positive("noise"),
    columns: parts.rising("columns", kept, features),
    weights: parts.singles("weights", [kept, k]),
    ...(parts.tensors.has("evidence.squares") && { evidence: evidenceOf(parts, kept) }),
  };
}

function evidenceOf(parts: FileParts, kept: number): Evidence {
  const squares = parts.singles("evidence.squares", [kept]);
  if (!squares.every((square) => square >= 0))
    parts.refuse("a number in evidence.squares below 0", "sums of squares");
  return { squares, share: parts.positive("evidenceShare") };
}

function stackPart(parts: FileParts, k: number): StackPart {
  const [, rank] = parts.shape("stack.vectors", 2) as [number, number];
  return {
    rank,
    vectors: parts.singles("stack.vectors", [k, rank]),
    weights: parts.singles("stack.weights", [rank, k]),
  };
}
