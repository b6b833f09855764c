// The built command as a person meets it, run as a program of its own by whatever runtime runs this test.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { flagsOf } from "../../src/cli/flags.ts";
import { boundCases, exactCases } from "../support/cases.ts";
import { topicData } from "../support/problems.ts";
import { data, expectSentence, inFolder, mlgpf, onFullDisk, outcome, small, start, xcText } from "./support.ts";

interface Prediction {
  labels: { label: number | string; probability: number; score: number; sd: number }[];
}
const predictions = (text: string): Prediction[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("help", () => {
  test("the version is the package's", async () => {
    const { code, out } = await mlgpf(["--version"]);
    expect(code).toBe(0);
    for (const file of ["package.json", "deno.json"])
      expect(out.trim()).toBe(JSON.parse(readFileSync(file, "utf8")).version);
  });

  for (const { name, positionals, options, tables = {} } of commands) {
    test(`of ${name} has its usage, examples and options`, async () => {
      const { code, out, err } = await mlgpf([name, "--help"]);
      expect(code).toBe(0);
      expect(err).toBe("");
      expect(out).toMatch(new RegExp(`^mlgpf ${name} `));
      expect(out).toContain(`Examples:\n  `);
      expect(out).toContain("Options:\n  --");
      const all = (await mlgpf([name, "--help-all"])).out;
      for (const flag of [options, ...Object.values(tables)].flatMap(flagsOf))
        expect(all).toMatch(new RegExp(`^  --(\\[no-\\])?${flag.name}[ \n]`, "m"));
      // A dozen and a few, and where to find the rest.
      if (out !== all) expect(out.match(/^ {2}--/gm)?.length).toBeLessThan(17);
      if (out !== all) expect(out).toContain(`mlgpf ${name} --help-all shows `);
    });

    test(`of ${name} is not needed to see what is wrong: another option, too many files`, async () => {
      const unknown = await mlgpf([name, "--colour"]);
      expect(unknown.err).toContain(`--colour: mlgpf ${name} has no such option`);
      expect(unknown.code).toBe(2);
      expectSentence(unknown);
      if (positionals.includes("...")) return;
      const many = ["a", "b", "c", "d"].slice(0, Math.max(3, positionals.split(" ").length + 1));
      const files = await mlgpf([name, ...many]);
      expect(files.err).toContain(`mlgpf ${name} takes ${positionals}, found ${many.join(" ")}`);
      expect(files.code).toBe(2);
      expectSentence(files);
    });
  }

  test("of the command names them all; without arguments it is an error", async () => {
    const { code, out } = await mlgpf(["--help"]);
    expect(code).toBe(0);
    for (const { name } of commands) expect(out).toContain(`mlgpf ${name}`);
    expect((await mlgpf([])).code).toBe(2);
  });
});

describe("wrong usage", () => {
  const wrong: [args: string[], message: string][] = [
    [["trian"], "inspect or selfcheck, did you mean train?"],
    [["train", "a.txt", "--out", "m", "--colour"], "--colour: mlgpf train has no such option"],
    [["train", "a.txt", "--out", "m", "--epoch", "3"], "mlgpf train has no such option, did you mean --epochs?"],
    [["train", "a.txt", "--out", "m", "-e", "3"], "-e: mlgpf train has no such option"],
    [["train", "a.txt", "--out", "--quiet"], "--out: found --quiet, expected a value"],
    [["train", "a.txt", "--out", "m", "--quiet=3"], "--quiet: found the value 3, expected none"],
    [["train", "a.txt", "--out", "m", "--seed", "1", "--seed", "2"], "--seed: found it twice, expected it once"],
    [["train", "a.txt", "--out", "m", "--kl-warmup", "2"], "--kl-warmup: found 2, expected a number from 0 to 1"],
    [["train", "a.txt", "--out", "m", "--kl-weight", "-1"], "--kl-weight: found -1, expected a number of at least 0"],
    [["train", "a.txt", "--out", "m", "--kernel", "cubic"], "--kernel: found cubic, expected linear, se"],
    [
      ["train", "a.txt", "--out", "m", "--kernel", "rbf", "--mean", "features"],
      "--mean: found features, expected inducing with the kernel se",
    ],
    [["train"], "mlgpf train takes FILE, found nothing"],
    [["train", "a.txt"], "mlgpf train needs --out MODEL"],
    [["train", "a.txt", "--out", "m", "--epochs", "many"], "--epochs: found many, expected a number"],
    [["train", "a.txt", "--out", "m", "--idf", "perhaps"], "--idf: found perhaps, expected yes, no or auto"],
    [["predict", "m", "a.txt", "--top", "0"], "--top: found 0, expected a whole number of at least 1"],
    [
      ["predict", "m", "a.txt", "--format", "pdf"],
      "--format: found pdf, expected auto, xc, svmlight, jsonl, json, csv, annif or parquet",
    ],
    [["eval", "m"], "mlgpf eval takes MODEL FILE, found m"],
    [["inspect"], "mlgpf inspect takes MODEL, found nothing"],
    [["merge", "part"], "mlgpf merge needs --out MODEL"],
    [["learn", "m", "new.jsonl"], "mlgpf learn needs --state STATE"],
    [["selfcheck", "--device", "abacus"], "--device: found abacus, expected"],
  ];
  for (const [args, message] of wrong) {
    test(`mlgpf ${args.join(" ")}`, async () => {
      const result = await mlgpf(args);
      expect(result.err).toContain(message);
      expectSentence(result);
      expect(result.code).toBe(2);
    });
  }
});

describe("from a file to predictions", () => {
  test("train, eval, predict and inspect an XC file", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = ["train", path("data.txt"), "--out", path("model"), ...small];
      const trained = await mlgpf([...train, "--json", "--valid", path("data.txt")]);
      expect(trained.code, trained.err).toBe(0);
      expect(JSON.parse(trained.out)).toMatchObject({ points: 150, droppedPoints: 0, steps: 60 });
      expect(trained.err).toContain("150 rows, 40 features, 12 labels");
      expect(existsSync(path("model.checkpoint"))).toBe(false);

      const evaluated = await mlgpf(["eval", path("model"), path("data.txt"), "--json", "--calibration"]);
      expect(evaluated.code, evaluated.err).toBe(0);
      const figures = JSON.parse(evaluated.out);
      for (const name of ["P@1", "P@3", "P@5", "nDCG@1", "nDCG@3", "nDCG@5", "PSP@1", "PSnDCG@5"]) {
        expect(figures[name], name).toBeGreaterThan(0);
        expect(figures[name], name).toBeLessThanOrEqual(100.000001);
      }
      expect(figures["P@1"]).toBeGreaterThan(60);
      expect(figures.logLoss).toBeGreaterThan(0);
      expect(figures["P@1"]).toBe(JSON.parse(trained.out).validation["P@1"]);

      const predicted = await mlgpf(["predict", path("model"), path("data.txt"), "--top", "3"]);
      expect(predicted.code, predicted.err).toBe(0);
      const rows = predictions(predicted.out);
      expect(rows.length).toBe(150);
      for (const { labels } of rows) {
        expect(new Set(labels.map(({ label }) => label)).size).toBe(3);
        for (const { label, probability, sd } of labels) {
          expect(Number.isInteger(Number(label)) && Number(label) >= 0 && Number(label) < 12).toBe(true);
          expect(probability >= 0 && probability <= 1).toBe(true);
          expect(sd).toBeGreaterThanOrEqual(0);
        }
        const probabilities = labels.map(({ probability }) => probability);
        expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
      }
      const piped = await mlgpf(["predict", path("model"), "-", "--top", "3"], xcText(data));
      expect(piped.out).toBe(predicted.out);
      const sure = await mlgpf(["predict", path("model"), path("data.txt"), "--threshold", "0.5"]);
      for (const { labels } of predictions(sure.out))
        for (const { probability } of labels) expect(probability).toBeGreaterThanOrEqual(0.5);

      const inspected = await mlgpf(["inspect", path("model"), "--json"]);
      expect(JSON.parse(inspected.out)).toMatchObject({
        features: 40,
        labels: 12,
        svgp: { kernel: "linear", mean: "features" },
        precision: "f32",
      });
      const told = (await mlgpf(["inspect", path("model")])).out;
      expect(told).toMatch(/^svgp {11}.*kernel linear/m);
      expect(told).toMatch(/^validation {5}P@1 [\d.]+ P@3 [\d.]+ P@5 [\d.]+ log loss [\d.]+$/m);
      expect(told).toMatch(/^options {8}model svgp, /m);
      expect(Math.max(...told.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
    });
  });

  test("texts with label names, from JSONL to names again", async () => {
    await inFolder(async (path) => {
      const animals = { cat: "whiskers purring fur", dog: "barking tail fur", fish: "fins gills water" };
      const lines = Array.from({ length: 60 }, (_, i) => {
        const [label, words] = Object.entries(animals)[i % 3] as [string, string];
        const text = `${words.split(" ")[i % 2]} ${words.split(" ")[2]} number ${i % 7}`;
        return JSON.stringify({ text, labels: [label, i % 3 === 2 ? "wet" : "dry"] });
      });
      writeFileSync(path("docs.jsonl"), `${lines.join("\n")}\n`);
      const sizes = ["--factors", "4", "--inducing-points", "6", "--rank", "6", "--batch", "20", "--epochs", "40"];
      const trained = await mlgpf(["train", path("docs.jsonl"), "--out", path("tagger"), ...sizes]);
      expect(trained.code, trained.err).toBe(0);
      const question = `${JSON.stringify({ text: "Gills and fins!" })}\n${JSON.stringify({ text: "a barking tail" })}\n`;
      const asked = await mlgpf(["predict", path("tagger"), "--top", "2", "--format", "jsonl"], question);
      expect(asked.code, asked.err).toBe(0);
      const [fish, dog] = predictions(asked.out).map(({ labels }) => labels.map(({ label }) => label).sort());
      expect(fish).toEqual(["fish", "wet"]);
      expect(dog).toEqual(["dog", "dry"]);
      const evaluated = await mlgpf(["eval", path("tagger"), path("docs.jsonl"), "--json"]);
      expect(JSON.parse(evaluated.out)["P@1"]).toBeGreaterThan(95);
    });
  });

  test("--quiet says nothing", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = ["train", path("data.txt"), "--out", path("model"), "--quiet", ...small];
      expect(await mlgpf(train)).toEqual({ code: 0, out: "", err: "" });
      expect((await mlgpf(["eval", path("model"), path("data.txt"), "--quiet", "--json"])).err).toBe("");
    });
  });

  test("a reader that stops early (| head) is no error", async () => {
    await inFolder(async (path) => {
      // More than fits into a pipe.
      writeFileSync(path("data.txt"), xcText(topicData({ points: 4000, features: 40, labels: 12 }, 3)));
      const train = ["train", path("data.txt"), "--out", path("model"), ...small.slice(0, -1), "0.1"];
      expect((await mlgpf(train)).code).toBe(0);
      const child = start(["predict", path("model"), path("data.txt")]);
      child.stdout?.once("data", () => child.stdout?.destroy());
      const { code, err } = await outcome(child);
      expect({ code, err }).toEqual({ code: 0, err: "" });
    });
  });

  test("Deno gives the bytes that Node gives", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = (name: string): string[] => ["train", path("data.txt"), "--out", path(name), "--quiet", ...small];
      const predict = ["predict", path("node"), path("data.txt")];
      expect((await mlgpf(train("node"), "", "node")).code).toBe(0);
      expect(await mlgpf(train("deno"), "", "deno")).toEqual({ code: 0, out: "", err: "" });
      expect(readFileSync(path("deno")).equals(readFileSync(path("node")))).toBe(true);
      expect(await mlgpf(predict, "", "deno")).toEqual(await mlgpf(predict, "", "node"));
    });
  });
});

describe("what is wrong is said in one sentence", () => {
  const broken: [what: string, text: string, message: string][] = [
    ["a number that is none", "2 3 2\n0 0:1\n1 1:x\n", "data.txt, line 3: found "],
    ["a feature out of range", "2 3 2\n0 0:1\n1 7:1\n", "data.txt, line 3: found "],
    ["a row too few", "3 3 2\n0 0:1\n1 1:1\n", "data.txt"],
    ["no label at all", "2 3 2\n 0:1\n 1:1\n", "data.txt: found no label"],
    ["nothing", "", "data.txt: found an empty file, expected rows of data"],
  ];
  for (const [what, text, message] of broken) {
    test(`a data file with ${what}`, async () => {
      await inFolder(async (path) => {
        writeFileSync(path("data.txt"), text);
        const result = await mlgpf(["train", path("data.txt"), "--out", path("model"), "--format", "xc"]);
        expect(result.code).toBe(1);
        expectSentence(result);
        expect(result.err).toContain(message);
        expect(result.err).toContain(", expected ");
        expect(readdirSync(path("."))).toEqual(["data.txt"]);
      });
    });
  }

  test("--lenient skips broken rows and counts them", async () => {
    await inFolder(async (path) => {
      const text = xcText(data).replace("\n", "\n0 0:x\n").replace("150", "151");
      writeFileSync(path("data.txt"), text);
      const result = await mlgpf(["train", path("data.txt"), "--out", path("model"), "--lenient", ...small]);
      expect(result.code, result.err).toBe(0);
      expect(result.err).toContain("1 row left out");
    });
  });

  test("files that are not there, folders that are not there, models that are none", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const cases: [string[], string][] = [
        [["train", path("none.txt"), "--out", path("model")], "none.txt: there is no such file"],
        [["train", path("data.txt"), "--out", path("none/model")], "none/model: there is no such folder"],
        [["eval", path("none"), path("data.txt")], "none: there is no such file"],
        [["predict", path("data.txt"), path("data.txt")], "data.txt: found "],
        [["inspect", path("data.txt")], "data.txt: found text, expected a model"],
        [["compact", path("data.txt")], "data.txt: found text, expected a model"],
        [["serve", path("data.txt")], "data.txt: found text, expected a model"],
        [["selfcheck", path("data.txt")], "data.txt: found something else, expected a JSON list of cases"],
      ];
      for (const [args, message] of cases) {
        const result = await mlgpf(args);
        expect(result.code, args.join(" ")).toBe(1);
        expectSentence(result);
        expect(result.err).toContain(message);
      }
      expect(readdirSync(path("."))).toEqual(["data.txt"]);
    });
  });

  test("arguments that were changed round, a model of texts with other data, a model as data", async () => {
    await inFolder(async (path) => {
      const rows = ["a purring cat", "a barking dog"].map((text, i) => JSON.stringify({ text, labels: [`l${i}`] }));
      writeFileSync(path("docs.jsonl"), `${[...rows, ...rows].join("\n")}\n`);
      writeFileSync(path("data.txt"), xcText(data));
      const trained = await mlgpf(["train", path("docs.jsonl"), "--out", path("model"), "--epochs", "1", "--quiet"]);
      expect(trained.code, trained.err).toBe(0);
      const cases: [string[], code: number, string][] = [
        ...["predict", "eval"].flatMap((name): [string[], number, string][] => [
          [[name, path("docs.jsonl"), path("model")], 2, "expected the model first"],
          [[name, path("docs.jsonl"), path("data.txt")], 1, "docs.jsonl: found text, expected a model"],
          [[name, path("model"), path("data.txt")], 1, "expected texts, as the model was trained on"],
        ]),
        [["train", path("model"), "--out", path("other")], 2, "model: found a model, expected data to train on"],
        [["train", path("docs.jsonl"), path("other")], 2, "mlgpf train takes FILE, found "],
      ];
      for (const [args, code, message] of cases) {
        const result = await mlgpf(args);
        expect(result.code, result.err).toBe(code);
        expectSentence(result);
        expect(result.err).toContain(message);
      }
    });
  });

  test("a disk that is full", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      expect((await mlgpf(["train", path("data.txt"), "--out", path("model"), ...small])).code).toBe(0);
      for (const args of [["predict", path("model"), path("data.txt")], ["inspect", path("model")], ["--help"]]) {
        const result = await onFullDisk(args);
        expect(result.err).toBe("mlgpf: cannot write standard output: the disk is full\n");
        expect(result.code).toBe(1);
      }
    });
  });

  test("an option that cannot be with these data, by the name that was typed", async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const result = await mlgpf(["train", path("data.txt"), "--out", path("model"), "--quiet", "--rank", "41"]);
      expect(result.code).toBe(2);
      expectSentence(result);
      expect(result.err).toContain("--rank: found 41, expected a whole number from 1 to 40");
      expect(existsSync(path("model"))).toBe(false);
    });
  });
});

describe("selfcheck", () => {
  test("passes on this machine", async () => {
    const { code, out, err } = await mlgpf(["selfcheck", "--json"]);
    expect(code, err).toBe(0);
    const results = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.map(({ precision, passed }) => [precision, passed])).toEqual([
      ["f64", true],
      ["f64", true],
      ["f32", true],
      ["f32", true],
    ]);
  });

  test("fails where an answer is another", async () => {
    await inFolder(async (path) => {
      const [first, second] = structuredClone(boundCases.slice(0, 2));
      const mu = second.expected.dmu;
      mu[0] = mu[0] * 1.01;
      writeFileSync(path("cases.json"), JSON.stringify([first, second]));
      const { code, out } = await mlgpf(["selfcheck", path("cases.json")]);
      expect(code).toBe(1);
      expect(out).toContain("FAILED");
      expect(out).toMatch(/dmu +\S+ {2}above/);
      const closed = structuredClone(exactCases[0]);
      writeFileSync(path("closed.json"), JSON.stringify([closed]));
      expect((await mlgpf(["selfcheck", path("closed.json")])).code).toBe(0);
      closed.expected.loo[0] = 0.1234;
      writeFileSync(path("closed.json"), JSON.stringify([closed]));
      expect((await mlgpf(["selfcheck", path("closed.json")])).out).toMatch(/exact \(inverse\): loo +\S+ {2}above/);
      writeFileSync(path("cases.json"), JSON.stringify([first]));
      expect((await mlgpf(["selfcheck", path("cases.json"), "--device", "wasm"])).code).toBe(0);
    });
  });
});

describe("--device", () => {
  test("webgpu without one is refused by the name that was typed, with what is missing", async () => {
    await inFolder(async (path) => {
      // Nothing can be found beside it here.
      cpSync("dist", path("dist"), { recursive: true });
      writeFileSync(path("package.json"), '{"type": "module"}');
      const args = ["selfcheck", "--device", "webgpu"];
      const { status, stderr } = spawnSync("node", [path("dist/cli.js"), ...args], { encoding: "utf8" });
      expect(status).toBe(2);
      expect(stderr).toBe(
        "mlgpf: --device: found no GPU, expected one for webgpu: the package webgpu is not installed (npm install webgpu)\n",
      );
    });
  });

  test("webgpu trains and checks on a GPU; auto takes no software one and says so, unless --quiet", {
    tags: "long",
  }, async () => {
    await inFolder(async (path) => {
      writeFileSync(path("data.txt"), xcText(data));
      const train = ["train", path("data.txt"), "--out", path("model"), ...small, "--device", "webgpu", "--json"];
      const trained = await mlgpf(train);
      expect(trained.code, trained.err).toBe(0);
      expect(trained.err).toMatch(/^[Tt]raining on GPU \(.+\)$/m);
      expect(JSON.parse(trained.out)).toMatchObject({ steps: 60, device: "webgpu" });

      for (const command of ["eval", "predict"]) {
        const [plain, auto, quiet] = await Promise.all(
          [[], ["--device", "auto"], ["--device", "auto", "--quiet"]].map((more) =>
            mlgpf([command, path("model"), path("data.txt"), ...more]),
          ),
        );
        expect(auto?.err).toMatch(/^Predicting on WASM \(.+ is no hardware\)$/m);
        expect(quiet?.err).toBe("");
        expect(auto?.out).toBe(plain?.out);
        expect(quiet?.out).toBe(plain?.out);
      }
      const double = await mlgpf([...train, "--precision", "f64", "--quiet"]);
      expect(double.code).toBe(2);
      expectSentence(double);
      expect(double.err).toContain("--device: found a GPU with the precision f64, expected wasm");
    });
    await inFolder(async (path) => {
      writeFileSync(path("closed.json"), JSON.stringify(exactCases));
      const refused = await mlgpf(["selfcheck", path("closed.json"), "--device", "webgpu"]);
      expect(refused.err).toContain("--device: found webgpu with cases of closed forms alone, expected wasm");
    });
    const checked = await mlgpf(["selfcheck", "--device", "webgpu", "--json"]);
    expect(checked.code, checked.err).toBe(0);
    const results = checked.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.map(({ about }) => about.split(" (")[0])).toEqual(["GPU"]);
    for (const result of results) expect(result).toMatchObject({ device: "webgpu", precision: "f32", passed: true });
  });
});
