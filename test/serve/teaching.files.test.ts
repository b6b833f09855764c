// Lessons that are hard to learn: labels that are ids, more labels than there is room for, a journal that is damaged or holds what
// cannot be learned, a full disk, an end in the middle. The server goes on answering, starts again, and says what happened.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stateFromBytes } from "../../src/parts/regression/state.ts";
import { openJournal } from "../../src/serve/learning/journal.ts";
import { mlgpf } from "../cli/support.ts";
import {
  cleanly,
  lesson,
  names,
  post,
  serve,
  settled,
  standing,
  stop,
  suggested,
  teach,
  textOf,
  trained,
  until,
} from "./server.ts";

const detail = async (answer: Response): Promise<string> => ((await answer.json()) as { detail: string }).detail;

describe("mlgpf serve --learn", () => {
  test(
    "learns labels that are ids like others, and starts again with them",
    cleanly(async () => {
      const { model, state } = await trained((subject) => 3 + 2 * names.indexOf(subject));
      const server = await serve([model, "--learn", state]);
      for (const uri of ["2", "40", "cats"]) {
        const documents = Array.from({ length: 12 }, (_, i) => ({
          document_id: `${uri} ${i}`,
          text: `${textOf("ships", 0)} ${uri}`,
          subjects: [{ uri }],
        }));
        expect((await teach(server.url, documents)).status).toBe(204);
        await settled(server.url);
      }
      expect(await standing(server.url)).toMatchObject({ documents: 84, rejected: 0 });
      await stop(server, "SIGKILL");
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 84 });
      const asked = await fetch(`${again.url}/predict?threshold=0`, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: textOf("ships", 0),
      });
      const { labels } = (await asked.json()) as { labels: { label: string }[] };
      expect(labels.map(({ label }) => label)).toEqual(expect.arrayContaining(["2", "3", "40", "cats"]));
      await stop(again);
      expect(stateFromBytes(readFileSync(state)).labelNames?.slice(-2)).toEqual(["40", "cats"]);
    }),
  );

  test(
    "says in /health and /metrics when people's labels are not those that it promised to find",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state]);
      const health = async (): Promise<{
        promises: Record<string, { promise: string; documents: number; holds: boolean }[]>;
      }> => (await (await fetch(`${server.url}/health`)).json()) as never;
      expect(Object.values((await health()).promises)).toEqual([[]]);
      // What is taught of these has nothing to do with their words.
      for (let i = 0; i < 6; i++) {
        const documents = Array.from({ length: 20 }, (_, j) => ({
          document_id: `odd ${i} ${j}`,
          text: textOf("ships", j),
          subjects: [{ label: `new ${j}` }, { label: "cats" }],
        }));
        expect((await teach(server.url, documents)).status).toBe(204);
        await settled(server.url);
        if (i === 0)
          expect(Object.values((await health()).promises)[0][0]).toMatchObject({ promise: "recall", documents: 20 });
      }
      const [watched] = Object.values((await health()).promises);
      expect(watched[0]).toMatchObject({ promise: "recall" });
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
        /mlgpf_promise_observed\{.*promise="recall".*\} 0/,
      );
      await stop(server);
    }),
  );

  test(
    "forgets, lists and queries over HTTP, beside a model that does not learn, and says what it learned",
    cleanly(async () => {
      const { model, state, folder } = await trained();
      const fixed = join(folder, "fixed.model");
      writeFileSync(fixed, readFileSync(model));
      // Links stay links.
      mkdirSync(join(folder, "links"));
      const link = (path: string, name: string): string => {
        symlinkSync(path, join(folder, "links", name));
        return join(folder, "links", name);
      };
      const linked = [link(model, "tagger.model"), link(state, "state")] as const;
      const server = await serve([fixed, linked[0], "--learn", `tagger=${linked[1]}`, "--max-labels", "4"]);
      const { url } = server;
      expect((await teach(url, [lesson("a")], {}, "fixed")).status).toBe(403);
      const list = async (query = ""): Promise<{ total: number; document_ids: string[] }> =>
        (await fetch(`${url}/v1/projects/tagger/documents${query}`)).json();
      expect(await list("?offset=46")).toMatchObject({ total: 48, offset: 46 });
      // Learned, forgotten and learned again while the first is still under way.
      expect((await teach(url, [lesson("a"), lesson("b")])).status).toBe(204);
      expect((await post(url, "forget", ["a", "t3"])).status).toBe(204);
      expect((await teach(url, [lesson("a", "ships")])).status).toBe(204);
      expect(await settled(url)).toMatchObject({ documents: 49, rejected: 0 });
      expect((await list("?offset=47")).document_ids).toEqual(["b", "a"]);
      expect(server.said()).toMatch(/tagger: learned \d+ documents?.* in [\d.]+ s: now 49 documents, 3 labels/);
      const gone = await post(url, "forget", ["t3"]);
      expect(gone.status).toBe(404);
      expect(await detail(gone)).toMatch(/"t3", expected one that was learned/);
      const all = (await list()).document_ids;
      expect(await detail(await post(url, "forget", all))).toMatch(/expected one that stays/);
      expect((await post(url, "forget", ["b", "b"])).status).toBe(400);
      const documents = [{ document_id: "q", text: textOf("music", 1) }, { text: "whiskers and violin" }, { text: "" }];
      const queried = await (await post(url, "query", { documents, top: 3 })).json();
      expect(queried).toMatchObject([{ results: expect.any(Array) }, { value: expect.any(Number) }]);
      // One new label has room, a second has none; known ones always have.
      const labelled = (...labels: string[]) => labels.map((label) => ({ text: "a", subjects: [{ label }] }));
      const many = Array.from({ length: 1001 }, (_, i) => `new ${i}`);
      expect(await detail(await teach(url, [{ text: "a", subjects: many.map((label) => ({ label })) }]))).toMatch(
        /1001 labels that the model does not have, expected at most 1000/,
      );
      expect((await teach(url, labelled("new 1"))).status).toBe(204);
      const full = await teach(url, labelled("new 2"));
      expect(full.status).toBe(507);
      expect(await detail(full)).toMatch(/found 5 labels with these, expected at most 4 \(--max-labels\)/);
      expect((await teach(url, labelled("new 1", "cats"))).status).toBe(204);
      await stop(server);
      for (const path of linked) expect(lstatSync(path).isSymbolicLink()).toBe(true);
      const ids = stateFromBytes(readFileSync(state)).documents?.ids ?? [];
      expect(ids.length).toBe(52);
      expect(ids).not.toContain("t3");
      expect(readdirSync(folder).sort()).toEqual(
        ["docs.jsonl", "fixed.model", "links", "tagger.model", "tagger.state", "tagger.state.journal"].sort(),
      );
      const wrong = await mlgpf(["serve", fixed, model, "--learn", state, "--port", "0"]);
      expect(wrong.err).toMatch(/expected a state for each, or ID=STATE once with one of fixed, tagger/);
    }),
  );

  test(
    "sets aside what it cannot learn, and starts whatever the journal holds",
    cleanly(async () => {
      const { model, state } = await trained();
      const journal = await openJournal(`${state}.journal`, 0);
      const good = { id: "good", text: textOf("cats", 1), labels: ["cats"] };
      const batches = [[good], [], [{ ...good, id: "bad", weight: 0.5 }], [{ ...good, id: "better", weight: 2000 }]];
      for (const documents of batches) await journal.add({ documents });
      await journal.add({ documents: [{ ...good, id: "last" }], forget: ["never learned", "t1"] });
      await journal.close();
      const server = await serve([model, "--learn", state]);
      expect(await standing(server.url)).toMatchObject({ documents: 49, waiting: 0, rejected: 2 });
      expect(server.said()).toMatch(/rejected.jsonl: set aside 1 document that cannot be learned: found weight 0.5/);
      expect(readFileSync(`${state}.journal`, "utf8")).toBe("");
      const aside = readFileSync(`${state}.rejected.jsonl`, "utf8").trimEnd().split("\n");
      expect(aside.map((line) => JSON.parse(line).id)).toEqual(["bad", "better"]);
      // A journal that is not as it was written: nothing is learned, and nothing lost, until somebody has looked.
      await stop(server);
      const damaged = '0123456789abcdef {"batch":6,"documents":[]}\n';
      writeFileSync(`${state}.journal`, damaged);
      const next = await serve([model, "--learn", state]);
      expect(next.said()).toMatch(/learning has stopped, predicting goes on: .*journal: found a damaged line 1/);
      expect((await suggested(next.url, textOf("cats", 0)))?.label).toBe("cats");
      const refused = await teach(next.url, [lesson("a")]);
      expect(refused.status).toBe(503);
      expect(await detail(refused)).toBe("learning has stopped: the journal is damaged");
      expect(await standing(next.url)).toMatchObject({ problem: "the journal is damaged" });
      expect(readFileSync(`${state}.journal`, "utf8")).toBe(damaged);
      renameSync(`${state}.journal`, `${state}.away`);
      await until(next.url, ({ problem }) => problem === undefined);
      expect((await teach(next.url, [lesson("a")])).status).toBe(204);
      expect(await settled(next.url)).toMatchObject({ documents: 50 });
      await stop(next);
    }),
  );

  test(
    "answers on a full disk, refuses lessons with one sentence, and learns when there is room again",
    { tags: "long" },
    cleanly(async () => {
      const { model, state, folder } = await trained();
      const before = readFileSync(state);
      // No file may grow at all.
      const server = await serve([model, "--learn", state], {}, "ulimit -S -f 0");
      const { url } = server;
      const pid = String(server.child.pid);
      expect((await suggested(url, textOf("cats", 0)))?.label).toBe("cats");
      expect(server.said()).toMatch(/learning has stopped, predicting goes on: cannot write .*: the file may not grow/);
      const refused = await teach(url, [lesson("a")]);
      expect(refused.status).toBe(503);
      expect(await detail(refused)).toBe("learning has stopped: the disk is full or cannot be written");
      const allow = (bytes: string): void => {
        const done = spawnSync("prlimit", ["--pid", pid, `--fsize=${bytes}:`]);
        expect(String(done.stderr)).toBe("");
      };
      allow("unlimited");
      await until(url, ({ problem }) => problem === undefined);
      // Room for a short lesson, not for a long one, and not for model and state.
      allow("1000");
      const long = await teach(url, [{ ...lesson("long"), text: "mast ".repeat(1000) }]);
      expect(long.status).toBe(507);
      expect(await detail(long)).toBe("the disk is full or cannot be written: nothing was taken");
      expect((await teach(url, [lesson("a")])).status).toBe(204);
      expect(await settled(url)).toMatchObject({ documents: 49 });
      await stop(server);
      expect(server.said()).toMatch(/not saved, the journal keeps it/);
      expect(readFileSync(state).equals(before)).toBe(true);
      expect(existsSync(`${state}.next`)).toBe(false);
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 49, waiting: 0 });
      await stop(again);
      expect(readdirSync(folder).filter((name) => /lock|tmp|next|cut/.test(name))).toEqual([]);
    }),
  );

  test(
    "ends in time in the middle of learning, and learns the rest after its next start",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state, "--timeout", "0.6", "--max-held", "0.5"]);
      const documents = (from: number, length: number) =>
        Array.from({ length }, (_, i) => lesson(`n${from + i}`, names[i % 3], i));
      let taken = 0;
      for (; taken < 2400; taken += 800) expect((await teach(server.url, documents(taken, 800))).status).toBe(204);
      // Waiting documents count as large requests do.
      const busy = await teach(server.url, [{ ...lesson("b"), text: "mast ".repeat(90_000) }]);
      expect(busy.status).toBe(503);
      const begin = performance.now();
      await stop(server);
      expect(performance.now() - begin).toBeLessThan(5000);
      expect(server.said()).toMatch(/ended before all was learned; the journal keeps/);
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 48 + taken, waiting: 0 });
      await stop(again, "SIGKILL");
    }),
  );
});
