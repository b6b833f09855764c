// Data in: readers, data sets, texts.

export { DataError } from "../base/errors.ts";
export { hashInteger, hashText } from "../base/hash.ts";
export {
  documentFrequencies,
  type LabelSets,
  labelFrequencies,
  mapFeatures,
  rowsWithLabels,
  type SparseRows,
  selectFeatures,
  selectLabels,
  usedColumns,
} from "../base/sparse.ts";
export type { Stemmer } from "../base/stem.ts";
export { tokenise } from "../base/text.ts";
export type { ByteSource } from "./bytes.ts";
export {
  checkDataset,
  compactColumns,
  type Dataset,
  type DatasetSource,
  mapColumns,
  type RowSplit,
  selectRows,
  splitRows,
} from "./dataset.ts";
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
export { loadStemmer, useStemmer } from "./stemmers.ts";
export { TfidfFitter, type TfidfState, TfidfVectoriser } from "./tfidf.ts";
export type { TfidfOptions } from "./tfidfoptions.ts";
