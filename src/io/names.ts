// Names of labels from a path, an address or bytes.

import { joined, openBytes } from "../data/bytes.ts";
import { type LabelNames, parseNames } from "../data/names.ts";
import { bytesFrom, type FileSource } from "./source.ts";

/** A vocabulary has no more bytes. */
const MOST_BYTES = 2 ** 30;

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
  return await parseNames(new TextDecoder().decode(await joined(chunks, () => MOST_BYTES)), file);
}
