// Alters safetensors files: bytes, but also the header as JSON, the JSON inside its metadata, and tensors together with
// their offsets, so that what is altered gets past the first checks.

type Next = () => number;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Parts {
  header: { [key: string]: Json };
  data: Uint8Array;
}

const WIDTHS: Record<string, number> = { I64: 8, F64: 8, F32: 4, I32: 4, F16: 2, I8: 1, U8: 1 };
/** Stands for a list nested too deep for JSON.stringify. */
const DEEP = "@deep@";
const deepText = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

const below = (next: Next, n: number): number => Math.floor(next() * n);
const oneOf = <T>(next: Next, list: readonly T[]): T => list[below(next, list.length)];

function taken(bytes: Uint8Array): Parts {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return { header, data: bytes.slice(8 + length) };
}

function together({ header, data }: Parts): Uint8Array {
  const text = JSON.stringify(header).replaceAll(`"${DEEP}"`, deepText).replaceAll(`\\"${DEEP}\\"`, deepText);
  const json = new TextEncoder().encode(text);
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

/** Another value for a place in JSON. */
function strange(next: Next, old: Json): Json {
  const number = typeof old === "number" ? old : 3;
  return oneOf<() => Json>(next, [
    () => oneOf(next, [null, true, false, 0, -1, 1, 0.5, 2 ** 31, 2 ** 32 + 1, 2 ** 53, 1e308, -0]),
    () => oneOf(next, [number + 1, number - 1, number * 2, number * 1e6, -number, Math.floor(number / 2)]),
    () =>
      oneOf(next, ["", "F32", "F64", "I8", "U8", "I32", "F16", "I64", "linear", "se", "1", "\ud800", "x".repeat(300)]),
    () => oneOf<Json>(next, [[], {}, [[0]], { toString: 1 }, { length: 1e9 }, [1e9, 1e9], DEEP]),
    () => (typeof old === "string" ? old.slice(0, below(next, old.length + 1)) : [old, old]),
  ])();
}

/** Walks down to a random place and changes it. */
function alterJson(next: Next, root: { [key: string]: Json } | Json[]): void {
  let place = root as { [key: string]: Json };
  for (;;) {
    const keys = Object.keys(place);
    if (keys.length === 0) return;
    const key = oneOf(next, keys);
    const value = place[key];
    if (typeof value === "object" && value !== null && next() < 0.85) {
      place = value as { [key: string]: Json };
      continue;
    }
    const kind = next();
    if (kind < 0.15) delete place[key];
    else if (kind < 0.25) place[key] = place[oneOf(next, keys)];
    else if (kind < 0.35 && !Array.isArray(place)) place[`${key}${oneOf(next, ["", "x", ".scale"])}`] = value;
    else place[key] = strange(next, value);
    return;
  }
}

/** The JSON in one text of the metadata. */
function alterMetadata(next: Next, { header }: Parts): void {
  const metadata = header.__metadata__ as { [key: string]: string };
  const key = oneOf(next, Object.keys(metadata));
  try {
    const value = JSON.parse(metadata[key]);
    if (typeof value !== "object" || value === null) throw new Error("a text");
    for (let times = 1 + below(next, 2); times > 0; times--) alterJson(next, value);
    metadata[key] = JSON.stringify(value);
  } catch {
    const other = strange(next, metadata[key]);
    metadata[key] = typeof other === "string" ? other : JSON.stringify(other);
  }
}

interface Description {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}
const tensorsOf = ({ header }: Parts): [string, Description][] =>
  Object.entries(header).filter(([name]) => name !== "__metadata__") as unknown as [string, Description][];

/** A tensor of another size or type, everything behind it moved: the header stays in order. */
function alterTensor(next: Next, parts: Parts): void {
  const tensors = tensorsOf(parts).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
  const pieces = tensors.map(
    ([
      ,
      {
        data_offsets: [from, to],
      },
    ]) => parts.data.slice(from, to),
  );
  const chosen = below(next, tensors.length);
  const [, description] = tensors[chosen] as [string, Description];
  if (next() < 0.3) description.dtype = oneOf(next, Object.keys(WIDTHS));
  if (next() < 0.8 && description.shape.length > 0) {
    const dimension = below(next, description.shape.length);
    const size = description.shape[dimension];
    description.shape[dimension] = Math.max(0, oneOf(next, [size + 1, size - 1, 0, 1, size * 2, size + 16]));
  }
  if (next() < 0.1) description.shape = oneOf(next, [[], [...description.shape, 1], description.shape.slice(1)]);
  const count = description.shape.reduce((product, size) => product * size, WIDTHS[description.dtype] ?? 1);
  const piece = new Uint8Array(Math.min(count, 1 << 16));
  piece.set(pieces[chosen].subarray(0, piece.length));
  pieces[chosen] = piece;
  parts.data = new Uint8Array(pieces.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const [i, each] of pieces.entries()) {
    parts.data.set(each, at);
    (tensors[i] as [string, Description])[1].data_offsets = [at, at + each.length];
    at += each.length;
  }
}

/** Numbers within a tensor. */
function alterNumbers(next: Next, parts: Parts): void {
  const [, { dtype, data_offsets: offsets }] = oneOf(next, tensorsOf(parts));
  const width = WIDTHS[dtype];
  const count = (offsets[1] - offsets[0]) / width;
  if (count === 0) return;
  const view = new DataView(parts.data.buffer, parts.data.byteOffset);
  for (let times = 1 + below(next, 3); times > 0; times--) {
    const at = offsets[0] + width * below(next, count);
    const value = oneOf(next, [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e30, -3e38, 2 ** 31, next()]);
    if (dtype === "F64") view.setFloat64(at, value, true);
    else if (dtype === "F32") view.setFloat32(at, value, true);
    else if (dtype === "I32")
      view.setInt32(at, oneOf(next, [-2, -1, 0, 1, below(next, 40), 2 ** 31 - 1, -(2 ** 31)]), true);
    else if (dtype === "F16") view.setUint16(at, below(next, 65536), true);
    else view.setUint8(at, oneOf(next, [0, 1, 127, 128, 255, below(next, 256)]));
  }
}

function alterBytes(next: Next, bytes: Uint8Array): Uint8Array {
  const at = below(next, bytes.length);
  const kind = next();
  if (kind < 0.3) return bytes.slice(0, at);
  if (kind < 0.4) return Uint8Array.from([...bytes, ...bytes.subarray(0, 1 + below(next, 20))]);
  if (kind < 0.5) return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1 + below(next, 8))]);
  const changed = bytes.slice();
  const until = next() < 0.3 ? 8 : changed.length;
  for (let times = 1 + below(next, 4); times > 0; times--)
    changed[below(next, until)] = next() < 0.5 ? below(next, 256) : changed[below(next, until)] ^ (1 << below(next, 8));
  return changed;
}

/** The file with something altered. */
export function altered(bytes: Uint8Array, next: Next): Uint8Array {
  if (next() < 0.2) return alterBytes(next, bytes);
  const parts = taken(bytes);
  for (let times = 1 + below(next, 2); times > 0; times--) {
    const kind = next();
    if (kind < 0.35) alterMetadata(next, parts);
    else if (kind < 0.55) {
      alterJson(next, parts.header);
      break; // descriptions may be anything now
    } else if (kind < 0.8) alterTensor(next, parts);
    else alterNumbers(next, parts);
    if (typeof parts.header.__metadata__ !== "object") break;
  }
  return together(parts);
}
