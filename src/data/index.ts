// Data in: readers, data sets, texts.

export type { ByteSource } from "./bytes.ts";
export { checkDataset } from "./check.ts";
export { compactColumns, mapColumns, mapFeatures, usedColumns } from "./columns.ts";
export {
  type Dataset,
  type DatasetSource,
  documentFrequencies,
  type LabelSets,
  labelFrequencies,
  type RowSplit,
  rowsWithLabels,
  type SparseRows,
  selectFeatures,
  selectLabels,
  selectRows,
  splitByKey,
  splitRows,
} from "./dataset.ts";
export { DataError } from "./errors.ts";
export { hashInteger, hashText } from "./hash.ts";
export type {
  Batch,
  Batches,
  DataFormat,
  DataRow,
  ReadOptions,
  ReadProgress,
  ReadResult,
  SkippedRow,
  SkippedRows,
  TextFormat,
} from "./options.ts";
export { type DataSource, readBatches, readDataset } from "./reader.ts";
export type { Stemmer } from "./stem.ts";
export { loadStemmer, useStemmer } from "./stemmers.ts";
export { tokenise } from "./text.ts";
export { TfidfFitter, type TfidfOptions, type TfidfState, TfidfVectoriser } from "./tfidf.ts";
