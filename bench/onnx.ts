// A collapsed model as an ONNX file, written by hand: scores = (x W) Phi' + b, the best few, their probabilities.
// Field numbers are those of onnx.proto3.

const encoder = new TextEncoder();

/** The bytes of a protobuf message. */
class Message {
  readonly #parts: Uint8Array[] = [];

  integer(field: number, value: number): this {
    this.#parts.push(varint(field * 8), varint(value));
    return this;
  }

  bytes(field: number, value: Uint8Array | string | Message): this {
    const content =
      typeof value === "string" ? encoder.encode(value) : value instanceof Message ? value.finish() : value;
    this.#parts.push(varint(field * 8 + 2), varint(content.length), content);
    return this;
  }

  finish(): Uint8Array {
    const bytes = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

const FLOAT = 1;
const INT64 = 7;

function tensor(name: string, shape: number[], data: Float32Array | BigInt64Array): Message {
  const message = new Message();
  for (const size of shape) message.integer(1, size);
  return message
    .integer(2, data instanceof Float32Array ? FLOAT : INT64)
    .bytes(8, name)
    .bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

function node(type: string, inputs: string[], outputs: string[]): Message {
  const message = new Message();
  for (const input of inputs) message.bytes(1, input);
  for (const output of outputs) message.bytes(2, output);
  return message.bytes(4, type);
}

/** An input or output; a dimension given as a word may be of any size. */
function value(name: string, type: number, shape: (number | string)[]): Message {
  const dimensions = new Message();
  for (const size of shape)
    dimensions.bytes(1, typeof size === "number" ? new Message().integer(1, size) : new Message().bytes(2, size));
  const form = new Message().integer(1, type).bytes(2, dimensions);
  return new Message().bytes(1, name).bytes(2, new Message().bytes(1, form));
}

export interface Collapsed {
  features: number; // D
  factors: number; // P
  labels: number; // K
  /** W [D,P] */
  weights: Float32Array;
  /** Phi [K,P] */
  phi: Float32Array;
  bias: Float32Array;
}

/**
 * The model for ONNX runtimes. `dense` takes x [B,D]. `gather` takes indices [B,n] and values [B,1,n] of the entries
 * that are not zero: W has a row for each word, so only those of the text are read. Sigmoid comes after TopK: five
 * are enough, and the order is the same.
 */
export function onnxModel(form: "dense" | "gather", model: Collapsed, topK: number): Uint8Array {
  const { features: d, factors: p, labels: k, weights, phi, bias } = model;
  const phiTransposed = new Float32Array(p * k);
  for (let label = 0; label < k; label++)
    for (let factor = 0; factor < p; factor++) phiTransposed[factor * k + label] = phi[label * p + factor];
  const latent =
    form === "dense"
      ? [node("MatMul", ["x", "W"], ["h"])]
      : [node("Gather", ["W", "indices"], ["rows"]), node("MatMul", ["values", "rows"], ["h"])];
  const inputs =
    form === "dense"
      ? [value("x", FLOAT, ["batch", d])]
      : [value("indices", INT64, ["batch", "n"]), value("values", FLOAT, ["batch", 1, "n"])];
  const found = form === "dense" ? ["batch", topK] : ["batch", 1, topK];
  const nodes = [
    ...latent,
    node("MatMul", ["h", "Phi"], ["products"]),
    node("Add", ["products", "b"], ["scores"]),
    node("TopK", ["scores", "k"], ["best", "label"]),
    node("Sigmoid", ["best"], ["probability"]),
  ];
  const graph = new Message();
  for (const each of nodes) graph.bytes(1, each);
  graph
    .bytes(2, "tagger")
    .bytes(5, tensor("W", [d, p], weights))
    .bytes(5, tensor("Phi", [p, k], phiTransposed))
    .bytes(5, tensor("b", [k], bias))
    .bytes(5, tensor("k", [1], BigInt64Array.of(BigInt(topK))));
  for (const input of inputs) graph.bytes(11, input);
  graph.bytes(12, value("label", INT64, found)).bytes(12, value("probability", FLOAT, found));
  return new Message().integer(1, 8).bytes(7, graph).bytes(8, new Message().bytes(1, "").integer(2, 17)).finish();
}
