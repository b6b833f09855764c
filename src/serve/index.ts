// A tagger over HTTP: `createHandler` for anything that takes a function from Request to Response.

export { createHandler } from "./handler.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export type { FoundLabel, Tagger, TaggerInput, TaggerOptions } from "./tagger.ts";
