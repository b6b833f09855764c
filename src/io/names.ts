// Names of labels from a path, an address or bytes.

import { DataError } from "../base/errors.ts";
import { joined, openBytes } from "../data/bytes.ts";
import { type LabelNames, parseNames } from "../data/names.ts";
import { bytesFrom, type FileSource } from "./source.ts";

/** A vocabulary unpacks to so many times its own bytes, within these bounds: an engine has no longer texts. */
const [MOST_RATIO, LEAST_BYTES, MOST_BYTES] = [100, 2 ** 26, 2 ** 29 - 32];

/**
 * Reads names of labels, for the option `names` of a training: TSV (`<uri> TAB name TAB other names`), CSV with a header
 * (`uri,label_en,...`), JSONL (`{ label, name, names }`), SKOS in Turtle or RDF/XML (with the package n3 or rdfxml-streaming-parser);
 * plain or gzip.
 *
 * @param source A path, an address, a Blob, a Response or bytes.
 * @throws {DataError} A line that cannot be read.
 * @example
 * ```ts
 * const model = await train("docs.jsonl", { names: await readNames("vocabulary.tsv") });
 * ```
 */
export async function readNames(source: FileSource): Promise<LabelNames> {
  const { bytes, file } = await bytesFrom(source, "the names");
  const { chunks } = await openBytes(bytes, { file });
  const most = Math.min(Math.max(MOST_RATIO * bytes.length, LEAST_BYTES), MOST_BYTES);
  const whole = await joined(chunks, () => most);
  const found = `more than ${most} bytes in ${bytes.length}`;
  if (!whole) throw new DataError({ file, line: 0, found, expected: "a smaller vocabulary" });
  return await parseNames(new TextDecoder().decode(whole), file);
}
