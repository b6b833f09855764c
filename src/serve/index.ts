// A tagger over HTTP: `createHandler` for anything that takes a function from Request to Response.

export type { FeatureInput, Input } from "../base/input.ts";
export type { LabelLists, Prediction, PredictOptions } from "../base/prediction.ts";
export { createHandler, type HandlerOptions } from "./handler.ts";
export type { HostOptions } from "./hosts.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export {
  type Found,
  type IndexedDocument,
  type Learning,
  type Project,
  projectOf,
  type ServedModel,
  type Tagger,
} from "./project.ts";
export { type NamedLabel, readSubjects, type Subject, Subjects } from "./subjects.ts";
