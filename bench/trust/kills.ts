// The command, killed at a random moment while it trains or saves: whatever it leaves behind is whole, and going on from it gives the
// bytes of a training that nobody disturbed.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelFromBytes } from "../../src/model/file.ts";
import { data, xcText } from "../../test/cli/support.ts";
import { generator } from "../../test/support/numbers.ts";

/** Small steps and a checkpoint at each report: much of the time goes into saving. */
const SIZES = ["--likelihood", "bernoulli", "--kernel", "se", "--factors", "10", "--inducing-points", "40"];
const COURSE = ["--batch", "50", "--epochs", "200", "--checkpoint-seconds", "0", "--threads", "1", "--quiet"];

interface Ended {
  code: number | null;
  said: string;
  milliseconds: number;
}

/** Runs a training in a folder; kills it after so many milliseconds, where they are given. */
function train(folder: string, resume: boolean, killAfter?: number): Promise<Ended> {
  const begin = performance.now();
  const args = [
    "dist/cli.js",
    "train",
    join(folder, "data.txt"),
    "--out",
    join(folder, "model"),
    ...SIZES,
    ...COURSE,
  ];
  const child = spawn(process.execPath, [...args, ...(resume ? ["--resume"] : [])], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
  return new Promise((done) =>
    child.once("close", (code) => {
      clearTimeout(timer);
      done({ code, said, milliseconds: performance.now() - begin });
    }),
  );
}

/** The bytes that an undisturbed training gives, and how long it takes. */
let whole: Promise<{ bytes: Buffer; milliseconds: number }> | undefined;

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-killed-"));
  try {
    writeFileSync(join(folder, "data.txt"), xcText(data));
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const undisturbed = (): Promise<{ bytes: Buffer; milliseconds: number }> =>
  inFolder(async (folder) => {
    const { code, said, milliseconds } = await train(folder, false);
    if (code !== 0) throw new Error(`the training ended with ${code}: ${said}`);
    return { bytes: readFileSync(join(folder, "model")), milliseconds };
  });

/** Kills a training at a moment of the seed, until one comes through; throws when what comes out is not the same. */
export async function killCommand(
  seed: number,
): Promise<{ refused: boolean; bytes: number; allocated: number }> {
  whole ??= undisturbed();
  const expected = await whole;
  const next = generator(seed);
  return await inFolder(async (folder) => {
    let ended = await train(folder, false, next() * 1.1 * expected.milliseconds);
    const killed = ended.code === null;
    if (existsSync(join(folder, "model"))) modelFromBytes(readFileSync(join(folder, "model")), "the model");
    if (killed) ended = await train(folder, true);
    if (ended.code !== 0) throw new Error(`going on ended with ${ended.code}: ${ended.said}`);
    if (!readFileSync(join(folder, "model")).equals(expected.bytes))
      throw new Error("other bytes after going on");
    const left = readdirSync(folder).filter((name) => name !== "data.txt" && name !== "model");
    if (left.length > 0) throw new Error(`left behind ${left}`);
    return { refused: false, bytes: expected.bytes.length, allocated: 0 };
  });
}
