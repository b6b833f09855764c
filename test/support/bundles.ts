// What the built package is made of, as a bundler sees it.

import { build, type Metafile } from "esbuild";

/** What the files of dist/ import, seen from some entries. */
export async function importsOf(root: string, entryPoints: string[]): Promise<Metafile["inputs"]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: "never",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    external: ["node:*"],
    metafile: true,
    logLevel: "error",
  });
  return metafile.inputs;
}
