// The reader in Python that docs/format.md shows: it finds in a model's file what the library wrote there.
// @module-tag long

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pythonPath } from "../../scripts/machine.ts";
import { readSafetensors } from "../../src/base/safetensors.ts";
import { modelToBytes } from "../../src/model/file.ts";
import { train } from "../../src/train/train.ts";

const reader = [...readFileSync("docs/format.md", "utf8").matchAll(/```python\n(.*?)```/gs)]
  .map(([, text]) => text as string)
  .find((text) => text.includes("def read")) as string;

/** What Python says of each tensor: shape, and the sum of its elements in double precision. */
const ASK = `
import sys
about, tensors = read(sys.argv[1])
print(json.dumps([about["format"], {name: [list(t.shape), float(t.astype("f8").sum())] for name, t in tensors.items()}]))
`;

test("docs/format.md: the reader in Python gives every tensor with its numbers", async () => {
  expect(reader.trim().split("\n").length).toBeLessThan(15);
  const python = pythonPath() ?? "python3";
  const rows = Array.from({ length: 30 }, (_, i) => ({
    text: `${i % 2 ? "red" : "blue"} word`,
    labels: [i % 2],
  }));
  const bytes = modelToBytes(await train(rows, { threads: 1 }));
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-python-"));
  try {
    writeFileSync(join(folder, "read.py"), reader + ASK);
    writeFileSync(join(folder, "model.safetensors"), bytes);
    const said = execFileSync(python, ["read.py", "model.safetensors"], { cwd: folder, encoding: "utf8" });
    const [format, found] = JSON.parse(said) as [string, Record<string, [number[], number]>];
    const { tensors, metadata } = readSafetensors(bytes);
    expect(format).toBe(metadata.format);
    expect(Object.keys(found).sort()).toEqual([...tensors.keys()].sort());
    for (const [name, { shape, data }] of tensors) {
      const [itsShape, sum] = found[name] as [number[], number];
      expect(itsShape).toEqual(shape);
      expect(sum).toBeCloseTo(
        Array.from(data, Number).reduce((total, value) => total + value, 0),
        6,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
