// A tagger over HTTP: `createHandler` for anything that takes a function from Request to Response.

export type { LabelLists } from "../metrics/allowed.ts";
export type { DoorOptions } from "./doors.ts";
export { createHandler, type HandlerOptions } from "./handler.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { type IndexedDocument, type Project, projectOf, type ServedModel } from "./project.ts";
export { type NamedLabel, readSubjects, type Subject, Subjects } from "./subjects.ts";
export type { FoundLabel, FoundLabels, Tagger, TaggerInput, TaggerOptions } from "./tagger.ts";
