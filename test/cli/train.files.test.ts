// Training from the command line: where its model goes, what is so after Ctrl-C, what it says.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { fittedLine } from "../../src/cli/terminal.ts";
import {
  data,
  expectSentence,
  inFolder,
  mlgpf,
  type Outcome,
  onFullDisk,
  outcome,
  small,
  start,
  xcText,
} from "./support.ts";

/** A training that takes long enough to be stopped, with some options instead of its own. */
function long(path: (name: string) => string, out: string, own: Record<string, string> = {}): string[] {
  const sizes = { kernel: "se", factors: "20", "inducing-points": "60", batch: "75", epochs: "1500" };
  const options = Object.entries({ ...sizes, ...own }).flatMap(([name, value]) => [`--${name}`, value]);
  return ["train", path("data.txt"), "--out", path(out), ...options];
}

/** Runs a training, does something when it has taken some steps, and waits for its end. */
async function during(
  args: string[],
  body: (pid: number) => void,
  options: Parameters<typeof start>[2] = {},
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-log-"));
  const log = join(folder, "steps.csv");
  const child = start([...args, "--log", log], undefined, options);
  const ended = outcome(child);
  const steps = (): number => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 2 : 0);
  while (steps() < 3 && child.exitCode === null) await new Promise((next) => setTimeout(next, 10));
  body(child.pid as number);
  rmSync(folder, { recursive: true });
  return await ended;
}

// Not child.kill(): after it Deno reports the signal whatever code the program ends with.
const interrupt = (pid: number): boolean => process.kill(pid, "SIGINT");
const lastLine = ({ err }: Outcome): string => err.trimEnd().split("\n").at(-1) as string;

describe("--out", () => {
  test("that cannot be written is refused before the data are read", { tags: "long" }, async () => {
    await inFolder(async (path) => {
      mkdirSync(path("folder"));
      // Root may write anywhere but here.
      const readOnly = process.getuid?.() === 0 ? "/sys/model" : path("locked/model");
      if (process.getuid?.() !== 0) mkdirSync(path("locked"), { mode: 0o555 });
      const cases: [string, string][] = [
        [path("folder"), "it is a folder"],
        [path("none/model"), "there is no such folder"],
        ["/dev/null", "it is not a plain file"],
        [readOnly, "permission denied"],
      ];
      const kept = ["/dev/full", "/dev/stdout", path("folder"), path("none/state"), readOnly];
      for (const checkpoint of kept) {
        const result = await mlgpf(["train", path("no-data.txt"), "--out", path("model"), "--checkpoint", checkpoint]);
        expect(result.code, checkpoint).toBe(1);
        expectSentence(result);
        expect(result.err).toContain(`cannot write ${checkpoint}: `);
      }
      mkdirSync(path("model.checkpoint"));
      const occupied = await mlgpf(["train", path("no-data.txt"), "--out", path("model")]);
      expect(occupied.err).toContain(`cannot write ${path("model.checkpoint")}: it is a folder`);
      rmdirSync(path("model.checkpoint"));
      for (const [out, why] of cases) {
        const result = await mlgpf(["train", path("no-data.txt"), "--out", out]);
        expect(result.code).toBe(1);
        expectSentence(result);
        expect(result.err).toContain(`cannot write ${out}: ${why}`);
        const report = await mlgpf(["train", path("no-data.txt"), "--out", path("model"), "--report", out]);
        expect(report.err).toContain(`cannot write ${out}: ${why}`);
      }
    });
  });

  test("that cannot be written any more at the end: the model is kept elsewhere", {
    tags: "long",
  }, async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      for (const name of ["gone", "current"]) mkdirSync(path(name));
      const train = long(path, "gone/model");
      const ended = await during(train, () => rmSync(path("gone"), { recursive: true }), {
        cwd: path("current"),
      });
      expect(ended.code, ended.err).toBe(1);
      expect(lastLine(ended)).toContain(
        `cannot write ${path("gone/model")}: there is no such folder; the model is in `,
      );
      expect(readdirSync(path("current"))).toEqual(["model"]);
      expect((await mlgpf(["inspect", path("current/model")])).code).toBe(0);
    });
  });
});

describe("--valid", () => {
  test("that cannot be read is refused before the data are", async () => {
    await inFolder(async (path) => {
      const train = ["train", path("no-data.txt"), "--out", path("model"), "--valid"];
      const refused = await mlgpf([...train, path("none.txt")]);
      expect(refused.code).toBe(1);
      expectSentence(refused);
      expect(refused.err).toContain(`cannot read ${path("none.txt")}: there is no such file`);
    });
  });
});

describe("numbers that run away", () => {
  test("are an error that names the option, and no model", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const wild = ["--kernel", "se", "--learning-rate", "50", "--model", "svgp"];
      const lost = await mlgpf(["train", path("data.txt"), "--out", path("model"), ...small, ...wild]);
      expect(lost.code).toBe(1);
      expect(lastLine(lost)).toMatch(
        /^mlgpf: found hyper-parameters .*, expected logarithms from -80 to 80: lower --learning-rate or raise --min-sigma$/,
      );
      expect(readdirSync(path("."))).toEqual(["data.txt"]);
    });
  });
});

describe("Ctrl-C", () => {
  test("keeps the state; --resume goes on to the same bytes", { tags: "long" }, async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const stopped = await during(long(path, "stopped"), interrupt);
      expect(stopped.code, stopped.err).toBe(130);
      expect(lastLine(stopped)).toBe(
        `mlgpf: Stopped. Continue with --resume (checkpoint ${path("stopped.checkpoint")}).`,
      );
      expect(readdirSync(path(".")).sort()).toEqual(["data.txt", "stopped.checkpoint"]);

      const other = await mlgpf([...long(path, "stopped", { seed: "5", factors: "21" }), "--resume"]);
      expect(other.code).toBe(1);
      expect(lastLine(other)).toBe(
        `mlgpf: ${path("stopped.checkpoint")}: found one made with --factors 20, --seed 0, expected --factors 21, --seed 5 (or the options it was made with)`,
      );
      const resumed = await mlgpf([...long(path, "stopped"), "--resume"]);
      expect(resumed.code, resumed.err).toBe(0);
      expect((await mlgpf(long(path, "whole"))).code).toBe(0);
      expect(readFileSync(path("stopped")).equals(readFileSync(path("whole")))).toBe(true);
      expect(readdirSync(path(".")).sort()).toEqual(["data.txt", "stopped", "whole"]);
    });
  });

  test("says where the state is when it could not be kept in its place", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      for (const name of ["gone", "current"]) mkdirSync(path(name));
      const stopped = await during(
        long(path, "gone/model"),
        (pid) => {
          rmSync(path("gone"), { recursive: true });
          interrupt(pid);
        },
        { cwd: path("current") },
      );
      expect(stopped.code).toBe(130);
      const kept = path("current/model.checkpoint");
      expect(lastLine(stopped)).toMatch(
        /^mlgpf: Stopped\. Continue with --resume --checkpoint .*current\/model\.checkpoint /,
      );
      expect(existsSync(kept)).toBe(true);
    });
  });

  test("says why there is no state where none could be kept anywhere; the training went on until then", {
    tags: "long",
  }, async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      mkdirSync(path("gone"));
      const args = [...long(path, "model"), "--checkpoint", path("gone/state"), "--checkpoint-seconds", "0"];
      // Nobody can write here.
      const nowhere = { cwd: "/sys", env: { HOME: "/sys", TMPDIR: "/sys" } };
      // Moved, since a checkpoint may just be written there and a folder that is not empty cannot be removed.
      const gone = (): void => renameSync(path("gone"), mkdtempSync(path("away")));
      const stopped = await during(args, (pid) => [gone(), interrupt(pid)], nowhere);
      expect(stopped.code, stopped.err).toBe(130);
      const why = `cannot write ${path("gone/state")}: there is no such folder`;
      expect(lastLine(stopped)).toContain(`The checkpoint could not be written: ${why}`);
      mkdirSync(path("gone"));
      const finished = await during(args, gone, nowhere);
      expect(finished.code, finished.err).toBe(0);
      expect(finished.err.split(`No checkpoint: ${why}`).length).toBe(2);
      expect(existsSync(path("model"))).toBe(true);
    });
  });

  test("says that there is no state before the first step, whatever file is there", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      writeFileSync(path("model.checkpoint"), "of another training");
      const child = start([...long(path, "model"), "--rank", "40", "--checkpoint-seconds", "1000"]);
      const ended = outcome(child);
      await new Promise<void>((done) => child.stderr?.once("data", () => done()));
      interrupt(child.pid as number);
      const stopped = await ended;
      // As soon as it has said something: while it prepares, or at the first step.
      if (lastLine(stopped).includes("--resume")) return;
      expect(stopped.code, stopped.err).toBe(130);
      expect(lastLine(stopped)).toBe("mlgpf: Stopped. There is no checkpoint yet; start it again.");
      expect(readFileSync(path("model.checkpoint"), "utf8")).toBe("of another training");
    });
  });
});

describe("a checkpoint", () => {
  test("of an earlier training is kept under another name", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      writeFileSync(path("model.checkpoint"), "of another training");
      writeFileSync(path("model.checkpoint.1"), "of a third");
      const train = ["train", path("data.txt"), "--out", path("model"), ...small];
      const { code, err } = await mlgpf([...train, "--checkpoint-seconds", "0"]);
      expect(code, err).toBe(0);
      expect(err).toContain(`The checkpoint of an earlier training is kept as ${path("model.checkpoint.2")}`);
      expect(readFileSync(path("model.checkpoint.2"), "utf8")).toBe("of another training");
      expect(existsSync(path("model.checkpoint"))).toBe(false);
    });
  });

  test("that is not there: --resume starts from the beginning and says so", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const { code, err } = await mlgpf(["train", path("data.txt"), "--out", path("model"), ...small, "--resume"]);
      expect(code, err).toBe(0);
      expect(err).toContain(`There is no checkpoint ${path("model.checkpoint")}; starting from the beginning`);
    });
  });
});

/** Deno and other systems have limits of their own. */
if (process.platform === "linux" && !("Deno" in globalThis))
  describe("a limit on memory", () => {
    test("is met in one sentence", { tags: "long" }, async () => {
      await inFolder(async (path) => {
        writeFileSync(path("data.txt"), xcText(data));
        const command = [process.execPath, "dist/cli.js", "train", path("data.txt"), "--out", path("model"), ...small];
        const child = spawn("bash", ["-c", 'ulimit -v 6000000; exec "$@"', "bash", ...command, "--quiet"]);
        const limited = await outcome(child);
        expect(limited.code).toBe(1);
        expectSentence(limited);
        expect(limited.err).toContain("found no memory for a core, expected some: lift the limit");
      });
    });
  });

describe("--log", () => {
  test("on a full disk ends with what it has; the training goes on", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const args = ["train", path("data.txt"), "--out", path("model"), ...small, "--log", "/dev/stdout"];
      const { code, err } = await onFullDisk(args);
      expect(code, err).toBe(0);
      expect(err.split("cannot write /dev/stdout: the disk is full; the log ends here").length).toBe(2);
      expect(existsSync(path("model"))).toBe(true);
    });
  });
});

describe("what a training says", () => {
  test("may go to a full disk: the model is written all the same", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = ["train", path("data.txt"), "--out", path("model"), ...small];
      expect((await onFullDisk(train, "error")).code).toBe(0);
      expect(existsSync(path("model"))).toBe(true);
    });
  });

  test("fits the terminal, most useful first", () => {
    const parts = [
      "step 480/500",
      "1 min 15 s left",
      "P@1 80.4 P@3 61.0 P@5 40.7",
      "bound -1234.56",
      "KL 123.4",
      "9000 points/s",
    ];
    for (let columns = 20; columns < 200; columns++)
      expect(fittedLine(parts, 0.5, columns).length).toBeLessThanOrEqual(columns);
    expect(fittedLine(parts, 0.96, 79)).toBe("██████████ step 480/500  1 min 15 s left  P@1 80.4 P@3 61.0 P@5 40.7");
    expect(fittedLine(parts, 0.96, 40)).toBe("██████████ step 480/500  1 min 15 s left");
    expect(fittedLine(parts, undefined, 200)).toBe(parts.join("  "));
  });

  test("closes with figures", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = ["train", path("data.txt"), "--out", path("model"), ...small];
      const plain = await mlgpf(train);
      expect(plain.err).toMatch(
        /^Trained in [\d.]+ m?s on 150 rows with 12 labels\. Nothing was held out to measure on; --valid 10% does that\.$/m,
      );
      const closed = await mlgpf(train.slice(0, -small.length));
      expect(closed.err).toMatch(
        /^Trained in [\d.]+ m?s on 150 rows with 12 labels\. On rows it was not fitted on: P@1 [\d.]+ P@3 [\d.]+ P@5 [\d.]+ log loss [\d.]+$/m,
      );
      const { out } = await mlgpf(["inspect", path("model")]);
      expect(out).toMatch(/^options {8}model gpr, .*kernel se/m);
      expect(out, "options of minibatches alone").not.toMatch(/batch|inducingPoints|learningRate/);
      const measured = await mlgpf([...train, "--valid", path("data.txt"), "--json"]);
      expect(measured.err).toMatch(
        /^Trained in [\d.]+ m?s on 150 rows with 12 labels\. On the 150 rows of .*data\.txt: P@1 [\d.]+ P@3 [\d.]+ P@5 [\d.]+ log loss [\d.]+$/m,
      );
      const { logLoss } = JSON.parse(measured.out).validation;
      const evaluated = await mlgpf(["eval", path("model"), path("data.txt"), "--json", "--calibration"]);
      expect(JSON.parse(evaluated.out).logLoss).toBe(logLoss);
    });
  });
});
