// The programs in the documents: found by their code fences, told apart by their first line.

import { readFileSync } from "node:fs";

const runtimes = { "Node and Bun": "node", Deno: "deno", "a page": "page", "a Worker": "worker" } as const;

export interface Program {
  /** Which one it is, for people: README.md 2. */
  name: string;
  runtime: (typeof runtimes)[keyof typeof runtimes];
  text: string;
}

/** All programs of a document; one whose first line does not say where it runs is an error. */
export function programsOf(document: string): Program[] {
  const fences = [...readFileSync(document, "utf8").matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)];
  return fences.map(([, text = ""], i) => {
    const name = `${document} ${i + 1}`;
    const where = Object.keys(runtimes).find((each) => text.startsWith(`// ${each}`));
    if (where === undefined) throw new Error(`${name}: found ${text.split("\n")[0]}, expected where it runs`);
    return { name, runtime: runtimes[where as keyof typeof runtimes], text };
  });
}
