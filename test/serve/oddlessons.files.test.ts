// Odd lessons: each is refused in one sentence, or learned; none is taken and cannot be learned, and whatever was learned can be
// opened again. MLGPF_FUZZ=200000 teaches 20,000 of them, MLGPF_FUZZ_SEED=1000000 others; npm run bench -- trust --only lessons teaches servers.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { readDataset } from "../../src/data/reader.ts";
import { modelFromBytes, modelToBytes } from "../../src/model/file.ts";
import { type LearningState, stateToBytes } from "../../src/parts/regression/state.ts";
import { createHandler, type Learning } from "../../src/serve/index.ts";
import { checkOnce, checkRoom, taughtDocuments } from "../../src/serve/learning/lessons.ts";
import { type LearnedModel, methods } from "../../src/serve/learning/methods.ts";
import { train } from "../../src/train/train.ts";
import { oddLesson } from "./oddlessons.ts";
import { ask, wordTagger } from "./support.ts";

// A lesson is a training: a tenth of what other fuzzers play.
const COUNT = Math.ceil(Number(process.env.MLGPF_FUZZ ?? 0) / 10) || 100;
const FIRST = Number(process.env.MLGPF_FUZZ_SEED ?? 1);

const WORDS = ["whiskers paw", "harbour sail", "violin chord"];
const rowsOf = (labels: readonly unknown[]) =>
  Array.from({ length: 24 }, (_, i) => ({
    id: `d${i}`,
    text: `the ${WORDS[i % 3]}`,
    labels: [labels[i % 3]],
  }));

for (const labels of [
  ["cats", "ships", "music"],
  [3, 7, 2],
])
  describe(`odd lessons for a model of ${labels.join(", ")}`, () => {
    test("are learned or refused, and leave files that can be opened", async () => {
      const folder = mkdtempSync(join(tmpdir(), "mlgpf-odd-"));
      const paths = { model: join(folder, "model"), state: join(folder, "state") };
      try {
        const { dataset } = await readDataset(rowsOf(labels) as never);
        const onState = (made: LearningState): void => writeFileSync(paths.state, stateToBytes(made));
        writeFileSync(paths.model, modelToBytes(await train(dataset, { model: "gpr", threads: 1, onState })));
        let model: LearnedModel = await methods.open(paths);
        const ids = new Set<string>(await methods.open(paths).then((opened) => opened.ids));
        const known = (): Set<string> => {
          const { labels: count, labelNames } = modelFromBytes(model.bytes).schema;
          return new Set(labelNames ?? Array.from({ length: count }, (_, label) => String(label)));
        };
        const learning: Learning = {
          status: {},
          documentIds: ids,
          async learn(documents) {
            const taught = taughtDocuments(documents, known(), undefined);
            checkRoom(model, known(), [], taught);
            model = await methods.learn({ documents: taught });
            for (const { id } of taught) if (id !== undefined) ids.add(id);
          },
          async forget(leaving) {
            checkOnce(leaving);
            const leave = leaving.filter((id) => ids.has(id));
            if (leave.length < ids.size) model = await methods.learn({ documents: [], forget: leave });
            for (const id of leave) ids.delete(id);
          },
          query: async () => [],
        };
        const handler = createHandler([
          { id: "p", name: "p", language: "en", model: { tagger: wordTagger(), labels: 3 }, learning },
        ]);
        let learned = 0;
        for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
          const { route, body } = oddLesson(seed);
          const answer = await handler(ask(JSON.stringify(body), `/v1/projects/p/${route}`));
          const { detail = "" } = answer.status === 204 ? {} : ((await answer.json()) as { detail: string });
          expect([204, 400], `seed ${seed}: ${detail}`).toContain(answer.status);
          expect(detail).toMatch(/^(.*found .*, expected .*)?$/);
          if (answer.status === 204) learned++;
          if (seed % 50 !== 0) continue;
          await methods.save({ paths, locks: [] });
          expect((await methods.open(paths)).documents).toBe(model.documents);
        }
        expect(learned / COUNT).toBeGreaterThan(0.4);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
