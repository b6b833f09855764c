// A server that learns: what it took is never lost and never learned twice, whenever it is killed; who may teach; what is
// refused.

import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { stateFromBytes } from "../../src/parts/regression/state.ts";
import { mlgpf } from "../cli/support.ts";
import { cleanly, lesson, names, serve, settled, standing, stop, suggested, teach, trained, words } from "./server.ts";

describe("mlgpf serve --learn", () => {
  test(
    "learns what it is sent, corrections and new labels too, and writes it when it ends",
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state]);
      const { url } = server;
      expect(await standing(url)).toMatchObject({ documents: 48, learned: 0, last: null });
      // What one process learns no other may write over.
      writeFileSync(`${state}.more`, `{"id":"x","text":"the paw","labels":["cats"]}\n`);
      for (const args of [
        ["serve", model, "--learn", state, "--port", "0"],
        ["learn", model, `${state}.more`, "--state", state, "--format", "jsonl"],
      ]) {
        const other = await mlgpf(args);
        expect(other.code).toBe(1);
        expect(other.err).toMatch(/process \d+ on .* is using it \(delete .*lock if it is gone\)/);
      }
      // All of the texts about sails are about regattas, it is now said; one of them was known.
      const sails = Array.from({ length: 12 }, (_, i) => ({
        document_id: i === 0 ? "t1" : `new ${i}`,
        text: `the sail and the ${words[i]}`,
        subjects: [{ uri: "http://example.org/regatta" }],
      }));
      expect((await teach(url, sails)).status).toBe(204);
      const now = await settled(url);
      expect(now).toMatchObject({ documents: 59, learned: 12, waiting: 0 });
      expect(Number.isNaN(Date.parse(now.last as string))).toBe(false);
      expect((await suggested(url, "the sail and the sail"))?.uri).toBe("http://example.org/regatta");
      await stop(server);
      const { documents } = stateFromBytes(readFileSync(state));
      expect(documents?.ids.length).toBe(59);
      expect(readFileSync(`${state}.journal`, "utf8")).toBe("");
    }),
  );

  test(
    "the newest model answers after each of many lessons; on Linux learning steps back behind those who ask",
    { tags: "long" },
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state]);
      const { url } = server;
      for (const [name, about] of Object.entries({
        first: "the purr of a violin",
        second: "the paw on a chord",
        third: "the feline melody",
        fourth: "the whiskers in rhythm",
      })) {
        const lesson = Array.from({ length: 30 }, (_, i) => ({
          document_id: `${name} ${i}`,
          text: `${about} and the ${words[i % 12]}`,
          subjects: [{ label: name }],
        }));
        expect((await teach(url, lesson)).status).toBe(204);
        await settled(url);
        // Many at once, while the threads have just taken turns.
        const answers = Array.from({ length: 8 }, () => suggested(url, about));
        expect(new Set((await Promise.all(answers)).map((best) => best?.label))).toEqual(new Set([name]));
      }
      if (process.platform === "linux") {
        const tasks = `/proc/${server.child.pid}/task`;
        // Behind the name in brackets the nineteenth of all fields is how nice the thread is.
        const nice = (task: string): number =>
          Number(readFileSync(`${tasks}/${task}/stat`, "utf8").split(") ")[1]?.split(" ")[16]);
        const all = readdirSync(tasks).map(nice);
        const usual = nice(String(server.child.pid));
        expect(all.some((each) => each > usual)).toBe(true);
        expect(all.filter((each) => each === usual).length).toBeGreaterThan(2);
      }
      await stop(server);
    }),
  );

  test(
    "loses nothing that it took, and learns nothing twice, however it is killed",
    { tags: "long" },
    cleanly(async () => {
      const { model, state } = await trained();
      const taken: string[] = [];
      let number = 0;
      for (let round = 0; round < 4; round++) {
        const server = await serve([model, "--learn", state]);
        expect((await standing(server.url)).documents).toBe(48 + taken.length);
        // The kill comes while one of these is under way: after an answer, before the next.
        for (let i = 0; i < 3 + round; i++) {
          const first = lesson(`k${number++}`, names[number % 3], number);
          const { document_id: _, ...nameless } = lesson("", names[number % 3], number + 1);
          expect((await teach(server.url, [first, nameless])).status).toBe(204);
          taken.push(String(first.document_id), "");
          if (round % 2 === 1 && i === 1) await settled(server.url);
        }
        await stop(server, "SIGKILL");
      }
      // Half a line, as a crash in the middle of writing leaves it.
      appendFileSync(`${state}.journal`, '0123456789abcdef {"batch":99,"docu');
      const last = await serve([model, "--learn", state]);
      expect(await standing(last.url)).toMatchObject({ documents: 48 + taken.length, waiting: 0 });
      const { document_id: _, ...nameless } = lesson("");
      expect((await teach(last.url, [nameless])).status).toBe(204);
      taken.push("");
      await settled(last.url);
      const journal = readFileSync(`${state}.journal`);
      await stop(last);
      // As after a crash between writing the state and letting go of the journal.
      writeFileSync(`${state}.journal`, journal);
      const again = await serve([model, "--learn", state]);
      expect(await standing(again.url)).toMatchObject({ documents: 48 + taken.length, waiting: 0 });
      await stop(again);
      const ids = stateFromBytes(readFileSync(state)).documents?.ids ?? [];
      expect([...ids].sort()).toEqual([...Array.from({ length: 48 }, (_, i) => `t${i}`), ...taken].sort());
    }),
  );

  test(
    "lets a document count as several, also when it is learned after a crash, by a server that has another weight",
    { tags: "long" },
    cleanly(async () => {
      const { model, state } = await trained();
      const first = await serve([model, "--learn", state, "--weight", "3"]);
      expect((await teach(first.url, [lesson("a"), lesson("b")])).status).toBe(204);
      await stop(first, "SIGKILL");
      const second = await serve([model, "--learn", state]);
      expect(await standing(second.url)).toMatchObject({ documents: 48 + 6, learned: 2 });
      // In place of three of it there is one.
      expect((await teach(second.url, [lesson("b", "ships")])).status).toBe(204);
      expect((await settled(second.url)).documents).toBe(48 + 3 + 1);
      await stop(second);
      expect([...(stateFromBytes(readFileSync(state)).documents?.weights ?? [])].slice(-2)).toEqual([3, 1]);
    }),
  );

  test(
    "asks for its token, and refuses what it cannot take with one sentence",
    { tags: "long" },
    cleanly(async () => {
      const { model, state } = await trained();
      const server = await serve([model, "--learn", state], { MLGPF_TOKEN: "a secret" });
      const { url } = server;
      const right = { authorization: "Bearer a secret" };
      const refusals: [status: number, answer: Promise<Response>, said: RegExp][] = [
        [401, teach(url, [lesson("a")]), /found none, expected "Bearer TOKEN"/],
        [401, teach(url, [lesson("a")], { authorization: "Bearer a secreT" }), /another token/],
        [404, teach(url, [lesson("a")], right, "other"), /not found/],
        [400, teach(url, { text: "a" }, right), /the body/],
        [400, teach(url, [{ subjects: [{ label: "cats" }] }], right), /as text/],
        [400, teach(url, [{ text: "a", subjects: [{ label: 7 }] }], right), /subject/],
        [400, teach(url, [{ text: "a", subjects: [{ uri: " " }] }], right), /the subject " "/],
        [400, teach(url, [{ ...lesson("a"), document_id: 7 }], right), /document_id/],
        [400, teach(url, [lesson("a"), lesson("a")], right), /twice/],
      ];
      for (const [status, answer, said] of refusals) {
        const { status: found, detail } = (await (await answer).json()) as { status: number; detail: string };
        expect(found).toBe(status);
        expect(detail).toMatch(said);
      }
      expect(await standing(url)).toMatchObject({ documents: 48, waiting: 0, last: null });
      // Nothing is nothing to learn, and no reason to stop learning.
      expect((await teach(url, [], right)).status).toBe(204);
      expect(await standing(url)).toMatchObject({ documents: 48, last: null });
      for (const id of ["a", "b"]) {
        expect((await teach(url, [lesson(id)], right)).status).toBe(204);
        await settled(url);
      }
      expect(await standing(url)).toMatchObject({ documents: 50, learned: 2 });
      // None of its labels fits: that is a lesson too.
      const text = "purring cats at home";
      const most = async (): Promise<number> => {
        const response = await fetch(`${url}/predict`, { method: "POST", body: JSON.stringify({ text, topK: 1 }) });
        const { labels } = (await response.json()) as { labels: { probability: number }[] };
        return labels[0].probability;
      };
      const before = await most();
      const none = Array.from({ length: 5 }, (_, i) => ({ text, subjects: [], document_id: `none${i}` }));
      expect((await teach(url, none, right)).status).toBe(204);
      await settled(url);
      expect(await standing(url)).toMatchObject({ documents: 55, learned: 7 });
      expect(await most()).toBeLessThan(before);
      await stop(server);
      const open = await mlgpf(["serve", model, "--learn", state, "--host", "0.0.0.0", "--port", "0"]);
      expect(open.code).toBe(2);
      expect(open.err).toMatch(/found no token with --host 0.0.0.0/);
      const anybody = await mlgpf(["serve", model, "--learn", state, "--cors", "*", "--port", "0"]);
      expect(anybody.code).toBe(2);
      expect(anybody.err).toMatch(/found no token with --cors \*/);
      const other = await mlgpf(["serve", model, "--learn", model, "--port", "0"]);
      expect(other.err).toMatch(/expected a state made by mlgpf/);
    }),
  );
});
