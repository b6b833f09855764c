// Training in parts and predicting in parts from the command line.

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { shardOf } from "../../src/cli/data.ts";
import { topicData } from "../support/problems.ts";
import { expectSentence, inFolder, mlgpf, type Outcome, outcome, start, xcText } from "./support.ts";

const data = topicData({ points: 2100, features: 40, labels: 8 }, 6);
/** Refused in one sentence, which says this. */
function refused(found: Outcome, message: RegExp): void {
  expectSentence(found);
  expect(found.err).toMatch(message);
}

const lines = (text: string): string[] => text.trimEnd().split("\n");

describe("--shard", () => {
  test("is I/N, or what the scheduler says", () => {
    expect(shardOf("3/8", {})).toEqual({ index: 3, count: 8 });
    const slurm = { SLURM_ARRAY_TASK_ID: "5", SLURM_ARRAY_TASK_MIN: "1", SLURM_ARRAY_TASK_COUNT: "8" };
    expect(shardOf("auto", slurm)).toEqual({ index: 5, count: 8 });
    expect(shardOf("auto", { ...slurm, SLURM_ARRAY_TASK_MIN: "0" })).toEqual({ index: 6, count: 8 });
    const batch = { AWS_BATCH_JOB_ARRAY_INDEX: "0", AWS_BATCH_JOB_ARRAY_SIZE: "4" };
    expect(shardOf("auto", batch)).toEqual({ index: 1, count: 4 });
    expect(shardOf("auto/4", { JOB_COMPLETION_INDEX: "3" })).toEqual({ index: 4, count: 4 });
  });

  test.each([
    ["0/3", {}, "--shard: found 0/3, expected I/N with I from 1 to N, auto or auto/N"],
    ["4/3", {}, "--shard: found 4/3, expected I/N with I from 1 to N, auto or auto/N"],
    ["half", {}, "--shard: found half, expected I/N with I from 1 to N, auto or auto/N"],
    ["2", {}, "--shard: found 2, expected I/N with I from 1 to N, auto or auto/N"],
    ["auto", { JOB_COMPLETION_INDEX: "3" }, "--shard auto: found JOB_COMPLETION_INDEX but not how many there are"],
    ["auto", {}, "--shard auto: found none of SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX, JOB_COMPLETION_INDEX"],
  ] as const)("%s is refused where it cannot be", (text, environment, message) => {
    expect(() => shardOf(text, environment)).toThrow(message);
  });
});

test("a plan, its parts and their merger: the same bytes for any number of parts", async () => {
  await inFolder(async (path) => {
    writeFileSync(path("data.txt"), xcText(data));
    expect((await mlgpf(["plan", path("data.txt"), "--out", path("plan")])).code).toBe(0);
    const merged = async (count: number): Promise<Uint8Array> => {
      const parts = Array.from({ length: count }, (_, i) => path(`part.${i + 1}of${count}`));
      for (const [i, part] of parts.entries()) {
        const task = { SLURM_ARRAY_TASK_ID: `${i}`, SLURM_ARRAY_TASK_COUNT: `${count}` };
        const args = [
          "train",
          path("data.txt"),
          "--plan",
          path("plan"),
          "--shard",
          "auto",
          "--threads",
          "1",
          "--out",
          part,
        ];
        expect((await outcome(start(args, undefined, { env: task }))).code).toBe(0);
      }
      const { code, out, err } = await mlgpf(["merge", ...parts, "--out", path("model"), "--json"]);
      expect(code).toBe(0);
      expect(err).toMatch(
        /^Trained in [\d.]+ s on [\d,]+ rows with \d+ labels\. On rows it was not fitted on: P@1 .* log loss [\d.]+$/m,
      );
      expect(JSON.parse(out).leftOut["P@1"]).toBeGreaterThan(0.5);
      return readFileSync(path("model"));
    };
    expect(await merged(3)).toEqual(await merged(1));

    const whole = await mlgpf(["predict", path("model"), path("data.txt"), "--top", "2"]);
    const answers: string[][] = [];
    for (const shard of ["1/3", "2/3", "3/3"]) {
      const { out } = await mlgpf(["predict", path("model"), path("data.txt"), "--top", "2", "--shard", shard]);
      answers.push(lines(out));
    }
    const woven = lines(whole.out).map((_, i) => answers[i % 3]?.[Math.floor(i / 3)]);
    expect(woven).toEqual(lines(whole.out));

    const [first, second] = [path("part.1of3"), path("part.2of3")];
    refused(await mlgpf(["merge", first, second, "--out", path("no")]), /found no part 3 of 3/);
    refused(await mlgpf(["merge", first, first, "--out", path("no")]), /found part 1 of 3 twice/);
    writeFileSync(path("cut"), readFileSync(second).subarray(0, 5000));
    refused(await mlgpf(["merge", first, path("cut"), "--out", path("no")]), /cut: found/);
  });
});

test("what is missing is said", async () => {
  refused(await mlgpf(["train", "x.txt", "--out", "m", "--shard", "1/2"]), /--shard: found no --plan/);
  refused(await mlgpf(["merge", "--out", "m"]), /takes PART \.\.\., found nothing/);
  refused(await mlgpf(["plan", "x.txt"]), /needs --out PLAN/);
});
