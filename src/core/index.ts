// mlgpf/core: the numeric core on its own.

export * from "./adam.ts";
export { Arena } from "./arena.ts";
export { Core, type CoreOptions, createCore, hasRelaxedSimd, type Precision } from "./core.ts";
export * from "./csr.ts";
export * from "./dense.ts";
export * from "./errors.ts";
export * from "./factor.ts";
export { Integers, integers, Matrix, matrix, matrixFrom, type RealArray, Scope, scoped } from "./matrix.ts";
export * from "./select.ts";
