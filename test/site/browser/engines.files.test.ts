// The page's main path in browsers of three engines: train on a file, ask, save. Each saves the model that Node trains.

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSite } from "../../../site/tools/build.ts";
import { modelFromBytes } from "../../../src/model/file.ts";
import { loadModel } from "../../../src/predict/load.ts";
import { browsers, outcomeOfPage, POST } from "../../support/pages.ts";
import { smallTexts, trainedInNode } from "./support.ts";

const TEXT = "a wolf that lives in the forest";
const LESSON = "a board game played with black and white stones";
const DATA = smallTexts(200);

/** A page around the page: it does what a visitor does, and catches the file that is saved. */
const VISITOR = `<!doctype html><iframe src="/index.html" style="width: 900px; height: 900px"></iframe>
<script type="module">
${POST}
const { contentWindow: page } = document.querySelector("iframe");
const errors = [];
const byId = (id) => page.document.getElementById(id);
async function until(found) {
  for (;;) {
    const value = found();
    if (value) return value;
    const problem = byId("problem")?.textContent || byId("demo-problem")?.textContent;
    if (problem) throw new Error("the page says: " + problem);
    await new Promise((done) => setTimeout(done, 50));
  }
}
try {
  await until(() => page.document.readyState === "complete" && byId("machine")?.textContent);
  page.addEventListener("error", ({ message }) => errors.push(message));
  page.addEventListener("unhandledrejection", ({ reason }) => errors.push(String(reason)));
  await until(() => byId("demo-answers").children.length > 0 && !byId("demo-correct").hidden);
  byId("demo-text").value = ${JSON.stringify(LESSON)};
  byId("demo-text").dispatchEvent(new page.Event("input", { bubbles: true }));
  byId("demo-right-labels").value = "game";
  byId("demo-right-labels").dispatchEvent(new page.Event("input", { bubbles: true }));
  byId("demo-correct").requestSubmit();
  const lesson = await until(() => /^Learned/.test(byId("demo-learned").textContent) && byId("demo-learned").textContent);
  const chosen = new page.DataTransfer();
  chosen.items.add(new page.File([${JSON.stringify(DATA)}], "zoo.jsonl"));
  byId("file").files = chosen.files;
  byId("file").dispatchEvent(new page.Event("change", { bubbles: true }));
  const status = await until(() => /^Trained/.test(byId("status").textContent) && byId("status").textContent);
  await until(() => byId("answers").children.length > 0);
  const before = byId("answers").innerHTML;
  byId("text").value = ${JSON.stringify(TEXT)};
  byId("text").dispatchEvent(new page.Event("input", { bubbles: true }));
  await until(() => byId("answers").innerHTML !== before);
  const labels = [...byId("answers").querySelectorAll(".name")].map((name) => name.textContent);
  const saved = new Promise((done) => {
    const make = page.URL.createObjectURL;
    page.URL.createObjectURL = (blob) => (done(blob), make.call(page.URL, blob));
  });
  byId("save").click();
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await (await saved).arrayBuffer()));
  const digest = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  await post({ lesson, status, labels, digest, errors });
} catch (error) {
  await post({ failed: String(error), errors });
}
</script>
`;

interface Visit {
  failed?: string;
  lesson: string;
  status: string;
  labels: string[];
  digest: string;
  errors: string[];
}

describe("the page trains, answers and saves what Node does", () => {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-engines-"));
  let wanted: Pick<Visit, "labels" | "digest">;
  beforeAll(async () => {
    await buildSite(folder);
    writeFileSync(join(folder, "visitor.html"), VISITOR);
    const bytes = await trainedInNode("zoo.jsonl", DATA);
    using model = await loadModel(modelFromBytes(bytes), { threads: 1 });
    const [best = []] = await model.predict([TEXT], { topK: 5 });
    wanted = {
      labels: best.map(({ label }) => String(label)),
      digest: createHash("sha256").update(bytes).digest("hex"),
    };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(browsers)("%s", async (browser) => {
    const visit = await outcomeOfPage<Visit>(browser, folder, "visitor.html");
    expect([visit.failed, visit.errors]).toEqual([undefined, []]);
    expect(visit.lesson).toMatch(/game: 0\.00 % before, [5-9]\d\.\d % now/);
    expect(visit.status).toMatch(/right for \d+\.\d % of held-out rows/);
    expect({ labels: visit.labels.slice(0, 5), digest: visit.digest }).toEqual(wanted);
  });
});
