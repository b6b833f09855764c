// npm run cases: makes the problems that `mlgpf selfcheck` runs without a file. Their answers come from the double
// precision path with 128 quadrature nodes, which the tests hold to reference values of another implementation.

import { writeFileSync } from "node:fs";
import { WasmBackend } from "../src/backend/wasm.ts";
import { createCore, uniformNumbers } from "../src/core/index.ts";
import { type SelfcheckCase, selfcheckAnswers } from "../src/model/selfcheck.ts";

const core = await createCore({ threads: 1 });
const backend = new WasmBackend(core, "f64");
let stream = 0;
const numbers = (rows: number, columns: number, from: number, to: number): number[][] => {
  const draws = uniformNumbers(core, rows * columns, { seed: 2018, stream: stream++ });
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) =>
      Number((from + (to - from) * (draws[i * columns + j] as number)).toFixed(3)),
    ),
  );
};

const [B, D, R, M, P, K] = [5, 6, 4, 3, 2, 4];
const kinds = ["linear", "se", "sum"] as const;
const cases: SelfcheckCase[] = [];
for (const [i, kernel] of kinds.entries()) {
  for (const inducing of ["subspace", "free"] as const) {
    const posterior = (i + (inducing === "free" ? 1 : 0)) % 2 === 0 ? "perFactor" : "shared";
    const sampled = kernel === "sum";
    const problem: SelfcheckCase = {
      name: `${kernel}-${inducing}-${posterior}${sampled ? "-sampled" : ""}`,
      kernel,
      inducing,
      posterior,
      N: 30,
      X: numbers(B, D, -1, 1),
      basis: inducing === "subspace" ? numbers(R, D, -0.6, 0.6) : null,
      labels: [[0], [1, 3], [], [2], [0, 1, 2]],
      sampledNegatives: sampled ? [[1, 2], [0], [0, 3], [0, 1], [3]] : null,
      parameters: {
        ...(inducing === "subspace" ? { A: numbers(M, R, -1, 1) } : { Z: numbers(M, D, -1, 1) }),
        mu: numbers(M, P, -0.8, 0.8),
        sigma: numbers(M, posterior === "shared" ? 1 : P, 0.3, 1.5),
        Phi: numbers(K, P, -1, 1),
        b: numbers(1, K, -2, 0.5)[0] as number[],
        ...(kernel === "se" ? {} : { linearVariance: 1.2 }),
        ...(kernel === "linear" ? {} : { seVariance: 0.7, lengthscale: 1.1 }),
      },
      expected: { gradient: {} },
    };
    problem.expected = await selfcheckAnswers(backend, problem, 128);
    cases.push(problem);
  }
}
core.dispose();
writeFileSync(
  "src/model/cases.ts",
  `// Problems with their answers, made by npm run cases.\n\nimport type { SelfcheckCase } from "./selfcheck.ts";\n\nexport const selfcheckCases: SelfcheckCase[] = JSON.parse(\n  ${JSON.stringify(JSON.stringify(cases))},\n);\n`,
);
console.log(cases.map(({ name }) => name).join("\n"));
