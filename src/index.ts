// mlgpf: extreme multi-label classification with honest probabilities.

export * from "./core/index.ts";
