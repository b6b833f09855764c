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
const SIZES = ["--model", "svgp", "--kernel", "se", "--factors", "10", "--inducing-points", "40"];
const COURSE = ["--batch", "50", "--epochs", "200", "--checkpoint-seconds", "0", "--threads", "1", "--quiet"];

interface Ended {
  code: number | null;
  said: string;
  milliseconds: number;
}

/** Runs a training in a folder; kills it after so many milliseconds, where they are given. */
function train(folder: string, resume: boolean, killAfter?: number): Promise<Ended> {
  const begin = performance.now();
  const args = ["dist/cli.js", "train", join(folder, "data.txt"), "--out", join(folder, "model"), ...SIZES, ...COURSE];
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

/** Kills of a training, and the longest life between two of them, of the time that the whole takes; the start is a fifth. */
const KILLS = 10;
const LIFE = 0.6;

/**
 * Kills a training at moments of the seed, again and again, and lets the last one come through; throws when what comes out is not
 * the same.
 */
export async function killCommand(seed: number): Promise<{ count: number }> {
  whole ??= undisturbed();
  const expected = await whole;
  const next = generator(seed);
  return await inFolder(async (folder) => {
    const model = join(folder, "model");
    let count = 0;
    for (let lives = 0; ; lives++) {
      const killAfter = lives < KILLS ? next() * LIFE * expected.milliseconds : undefined;
      const { code, said } = await train(folder, lives > 0, killAfter);
      if (existsSync(model)) modelFromBytes(readFileSync(model), "the model");
      if (code === 0) break;
      if (code !== null) throw new Error(`found an end with ${code}, expected the training to go on: ${said}`);
      count++;
    }
    if (!readFileSync(model).equals(expected.bytes))
      throw new Error("found other bytes, expected those of a training without kills");
    const left = readdirSync(folder).filter((name) => name !== "data.txt" && name !== "model");
    if (left.length > 0) throw new Error(`found ${left}, expected nothing left behind`);
    return { count };
  });
}
