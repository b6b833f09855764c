// mlgpf serve MODEL

import process from "node:process";
import { defaultLimits, type Limits } from "../serve/limits.ts";
import { listen, type Running } from "../serve/node.ts";
import { openTagger } from "../serve/open.ts";
import { createService } from "../serve/service.ts";
import type { Command } from "./command.ts";
import { type Flags, type Parsed, UsageError } from "./flags.ts";
import { terminal } from "./terminal.ts";

const MEGABYTE = 2 ** 20;
const { bodyBytes, batch, queue, requests, seconds } = defaultLimits;

const flags: Flags = {
  port: { kind: "number", help: "port to listen on; 0 takes a free one (default: 8080)" },
  host: { kind: "text", value: "NAME", help: "address to listen on (default: 127.0.0.1, this machine only)" },
  "max-body": { kind: "number", value: "MB", help: `longest request (default: ${bodyBytes / MEGABYTE})` },
  "max-batch": { kind: "number", help: `most texts in one request (default: ${batch})` },
  "max-queue": {
    kind: "number",
    help: `texts that may wait before clients are asked to come again (default: ${queue})`,
  },
  "max-requests": { kind: "number", help: `requests under way at once (default: ${requests})` },
  timeout: {
    kind: "number",
    value: "SECONDS",
    help: `time a client has to send its request (default: ${seconds})`,
  },
  quiet: { kind: "switch", help: "say nothing unless something is wrong" },
};

function wholeFlag(parsed: Parsed, name: string, standard: number, least: number, most: number): number {
  const value = parsed.number(name) ?? standard;
  if (!Number.isInteger(value) || value < least || value > most)
    throw new UsageError(`--${name}: found ${value}, expected a whole number from ${least} to ${most}`);
  return value;
}

function positiveFlag(parsed: Parsed, name: string, standard: number, most: number): number {
  const value = parsed.number(name) ?? standard;
  if (!(value > 0 && value <= most))
    throw new UsageError(`--${name}: found ${value}, expected more than 0 and at most ${most}`);
  return value;
}

function limitsOf(parsed: Parsed): Limits {
  const most = 1e6;
  return {
    bodyBytes: Math.ceil(positiveFlag(parsed, "max-body", bodyBytes / MEGABYTE, 1024) * MEGABYTE),
    batch: wholeFlag(parsed, "max-batch", batch, 1, most),
    queue: wholeFlag(parsed, "max-queue", queue, 1, most),
    requests: wholeFlag(parsed, "max-requests", requests, 1, most),
    seconds: positiveFlag(parsed, "timeout", seconds, 3600),
  };
}

async function run(parsed: Parsed): Promise<void> {
  const [path, ...more] = parsed.positional;
  if (path === undefined || more.length > 0) throw new UsageError("mlgpf serve takes one model");
  const port = wholeFlag(parsed, "port", 8080, 0, 65535);
  const host = parsed.text("host") ?? "127.0.0.1";
  const limits = limitsOf(parsed);
  const screen = terminal(parsed.on("quiet"));
  screen.show(`opening ${path}`);
  const tagger = await openTagger(path);
  const server = await start(() => listen(createService(tagger, limits), { host, port }), host, port);
  screen.say(`${path} (${tagger.labels.length} labels) is served at ${server.url}, Ctrl-C ends`);
  await stopped(server, (text) => screen.say(text));
  tagger[Symbol.dispose]();
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use (--port 0 takes a free one)",
  EACCES: "permission denied",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "there is no such host",
};

/** Turns what the system says about a port into a sentence. */
async function start(listening: () => Promise<Running>, host: string, port: number): Promise<Running> {
  try {
    return await listening();
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    throw new Error(`cannot listen on ${host}:${port}: ${REASONS[code] ?? message}`);
  }
}

/** Serves until a signal comes and what is under way is done; a second signal ends at once. */
function stopped(server: Running, say: (text: string) => void): Promise<void> {
  return new Promise((done) => {
    let asked = false;
    const stop = (): void => {
      if (asked) process.exit(130);
      asked = true;
      say("stopping: finishing what is under way (Ctrl-C again ends at once)");
      void server.stop().then(() => {
        process.removeListener("SIGINT", stop);
        process.removeListener("SIGTERM", stop);
        done();
      });
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });
}

export const serveCommand: Command = {
  name: "serve",
  usage: "mlgpf serve MODEL [--port 8080] [--host 127.0.0.1]",
  summary: "answer predictions over HTTP: POST /predict, GET /health, GET /metrics",
  examples: [
    "mlgpf serve tagger.safetensors",
    `curl localhost:8080/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'`,
  ],
  flags,
  run,
};
