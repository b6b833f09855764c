// The entry points of the package: name in dist/ and source.
export const entryPoints: Record<string, string> = {
  index: "src/index.ts",
  core: "src/core/index.ts",
  cli: "src/cli/main.ts",
  edge: "src/edge/index.ts",
  serve: "src/serve/index.ts",
  "serve-thread": "src/serve/bulkthread.ts",
  "learn-thread": "src/serve/learning/thread.ts",
};
