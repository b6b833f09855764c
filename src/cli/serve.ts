// mlgpf serve MODEL [MODEL ...]

import { basename } from "node:path";
import process from "node:process";
import { MOST_WEIGHT } from "../closed/documents.ts";
import { readWhole } from "../io/files.ts";
import { isLoopback } from "../serve/doors.ts";
import { FileProject } from "../serve/fileproject.ts";
import { garbageCollector } from "../serve/garbage.ts";
import { LearningProject } from "../serve/learning/project.ts";
import { defaultLimits, type Limits } from "../serve/limits.ts";
import { type Dropped, listen, type Running } from "../serve/node.ts";
import { OtherThread } from "../serve/otherthread.ts";
import { createService } from "../serve/service.ts";
import { readSubjects, type Subjects } from "../serve/subjects.ts";
import type { Command } from "./command.ts";
import { type Flags, given, type Parsed, UsageError } from "./flags.ts";
import { listFlags, readLists } from "./lists.ts";
import { type Terminal, terminal } from "./terminal.ts";

const MEGABYTE = 2 ** 20;
const MOST = 1e6;
const { bodyBytes, batch, labels, requests, heldBytes, seconds } = defaultLimits;

const flags: Flags = {
  port: { kind: "whole", to: 65535, help: "port to listen on; 0 takes a free one", default: "8080" },
  host: {
    kind: "text",
    value: "NAME",
    help: "address to listen on",
    default: "127.0.0.1, this machine only",
  },
  id: {
    kind: "text",
    repeat: true,
    value: "NAME",
    help: "name of each model in addresses, in order",
    default: "its file's",
  },
  language: {
    kind: "text",
    repeat: true,
    value: "CODE",
    help: "language of each model's texts",
    default: "en",
  },
  "labels-file": {
    kind: "text",
    repeat: true,
    value: "FILE",
    help: "addresses, names and notations of the labels (TSV or CSV: uri, label, notation); one for all models or for each",
  },
  learn: {
    kind: "text",
    repeat: true,
    value: "STATE",
    help: "learn what is sent to /v1/projects/{id}/learn; the state that was written with each model, in order",
  },
  weight: {
    kind: "whole",
    from: 1,
    to: MOST_WEIGHT,
    help: "each document that is taught counts as N",
    default: "1",
  },
  token: {
    kind: "text",
    value: "TOKEN",
    help: "what those must send who teach (authorization: Bearer TOKEN)",
    default: "the environment's MLGPF_TOKEN; without one only this machine may",
  },
  ...listFlags,
  "allow-host": {
    kind: "text",
    repeat: true,
    value: "NAME",
    help: "a name that clients may ask by, beside localhost; as often as needed",
  },
  cors: {
    kind: "text",
    repeat: true,
    value: "ORIGIN",
    help: "an origin whose pages may ask (https://example.org), or * for all; as often as needed",
  },
  "max-body": {
    kind: "number",
    above: 0,
    to: 1024,
    value: "MB",
    help: "longest request, unpacked",
    default: String(bodyBytes / MEGABYTE),
  },
  "max-batch": {
    kind: "whole",
    from: 1,
    to: MOST,
    help: "most texts in one request",
    default: String(batch),
  },
  "max-labels": {
    kind: "whole",
    from: 1,
    to: 1e8,
    help: "most labels in one answer, over all its texts",
    default: String(labels),
  },
  "max-requests": {
    kind: "whole",
    from: 1,
    to: MOST,
    help: "requests under way at once",
    default: String(requests),
  },
  "max-held": {
    kind: "number",
    above: 0,
    to: MOST,
    value: "MB",
    help: "what large requests and answers that are not sent yet may hold before clients are asked to come again",
    default: String(heldBytes / MEGABYTE),
  },
  timeout: {
    kind: "number",
    above: 0,
    to: 3600,
    value: "SECONDS",
    help: "time a client has to send its request, and to take its answer, and the server to end",
    default: String(seconds),
  },
  quiet: { kind: "switch", help: "say nothing unless something is wrong" },
};

function limitsOf(parsed: Parsed): Limits {
  const bytes = (name: string, standard: number): number => {
    const megabytes = parsed.number(name);
    return megabytes === undefined ? standard : Math.min(2 ** 31 - 1, Math.ceil(megabytes * MEGABYTE));
  };
  return {
    bodyBytes: bytes("max-body", bodyBytes),
    batch: parsed.number("max-batch") ?? batch,
    labels: parsed.number("max-labels") ?? labels,
    requests: parsed.number("max-requests") ?? requests,
    heldBytes: bytes("max-held", heldBytes),
    seconds: parsed.number("timeout") ?? seconds,
  };
}

/** The value of a flag for each model: given once for all of them, or once for each. */
function forEach<T>(values: readonly T[], models: number, flag: string, fallback: T): T[] {
  if (values.length > 1 && values.length !== models)
    throw new UsageError(`--${flag}: found ${values.length}, expected one for all models or one for each`);
  return Array.from({ length: models }, (_, i) => values[values.length > 1 ? i : 0] ?? fallback);
}

/** Names of the models in addresses. */
function idsOf(paths: readonly string[], given: readonly string[]): string[] {
  if (given.length > 0 && given.length !== paths.length)
    throw new UsageError(`--id: found ${given.length} for ${paths.length} models, expected one for each`);
  const ids = paths.map((path, i) => given[i] ?? basename(path).replace(/(?<=.)\.[^.]*$/, ""));
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined)
    throw new UsageError(`--id: found two models called ${twice}, expected a name of its own for each`);
  return ids;
}

type ServedProject = FileProject | LearningProject;

const isLearning = (project: ServedProject): project is LearningProject => project instanceof LearningProject;

/** The state of each model, where they learn. */
function statesOf(models: number, states: readonly string[]): readonly (string | undefined)[] {
  if (states.length > 0 && states.length !== models)
    throw new UsageError(
      `--learn: found ${states.length} states for ${models} models, expected one for each`,
    );
  return states;
}

async function openProjects(parsed: Parsed, screen: Terminal): Promise<ServedProject[]> {
  const paths = parsed.positional;
  if (paths.length === 0) throw new UsageError("mlgpf serve takes a model, or several");
  const ids = idsOf(paths, parsed.all("id"));
  const languages = forEach(parsed.all("language"), paths.length, "language", "en");
  const tables = await Promise.all(
    parsed.all("labels-file").map(async (file): Promise<Subjects | undefined> => {
      return readSubjects(new TextDecoder().decode(await readWhole(file)), file);
    }),
  );
  const subjects = forEach(tables, paths.length, "labels-file", undefined);
  const states = statesOf(paths.length, parsed.all("learn"));
  const taught = { ...given({ weight: parsed.number("weight") }), onProblem: screen.say };
  const projects: ServedProject[] = [];
  for (const [i, path] of paths.entries()) {
    screen.show(`opening ${path}`);
    const [id, language, table] = [ids[i] as string, languages[i] as string, subjects[i]];
    const about = { id, language, ...(table ? { subjects: table } : {}) };
    const state = states[i];
    projects.push(
      state === undefined
        ? await FileProject.open(path, about)
        : await LearningProject.open({ ...about, ...taught, paths: { model: path, state } }),
    );
    const { labels: names } = (projects[i] as ServedProject).model.tagger;
    if (table && !Array.from(names).some((name) => table.get(name)))
      screen.say(`${path}: none of its labels is in the --labels-file (the first is ${names[0]})`);
  }
  return projects;
}

async function run(parsed: Parsed): Promise<void> {
  const port = parsed.number("port") ?? 8080;
  const host = parsed.text("host") ?? "127.0.0.1";
  const limits = limitsOf(parsed);
  const hosts = parsed.all("allow-host");
  const screen = terminal(parsed.on("quiet"));
  const lists = await readLists(parsed);
  const token = tokenOf(parsed, host);
  const projects = await openProjects(parsed, screen);
  const other = new OtherThread(projects, limits, lists);
  const service = createService(projects, {
    limits,
    ...lists,
    large: other.answer,
    freed: garbageCollector(),
    token,
    origins: parsed.all("cors"),
    ...(isLoopback(host) || hosts.length > 0 ? { hosts } : {}),
  });
  const server = await start(() => listen(service, { host, port }), host, port);
  for (const { path, model } of projects)
    screen.say(`${path} (${model.labels} labels) is served at ${server.url}, Ctrl-C ends`);
  const forget = reloadOnHangup(projects.filter((project) => !isLearning(project)) as FileProject[], screen);
  const dropped = await stopped(server, screen);
  forget();
  other.stop();
  for (const project of projects.filter(isLearning)) await project.stop();
  if (dropped.requests + dropped.connections > 0)
    screen.say(
      `stopped after ${limits.seconds} s: dropped ${dropped.requests} requests under way and ${dropped.connections} connections without one`,
    );
  // Whatever a runtime still keeps open does not keep it from ending.
  setTimeout(() => process.exit(), 500).unref();
}

/** What those must know who teach; without it nobody else's machine may. */
function tokenOf(parsed: Parsed, host: string): string | undefined {
  const token = parsed.text("token") ?? process.env.MLGPF_TOKEN;
  if (token === "") throw new UsageError("--token: found nothing, expected a token");
  if (token === undefined && parsed.all("learn").length > 0 && !isLoopback(host))
    throw new UsageError(
      `--learn: found no token with --host ${host}, expected --token TOKEN or MLGPF_TOKEN`,
    );
  return token;
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

/** Reads the models again at each SIGHUP, one signal after the other; returns how to leave off. */
function reloadOnHangup(projects: readonly FileProject[], screen: Terminal): () => void {
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    for (const project of projects) {
      try {
        await project.reload();
        screen.say(`${project.path} (${project.model.labels} labels) is served from now on`);
      } catch (error) {
        console.error(`mlgpf: ${(error as Error).message}; the model stays as it was`);
      }
    }
  };
  const heard = (): void => {
    last = last.then(reload);
  };
  process.on("SIGHUP", heard);
  return () => process.removeListener("SIGHUP", heard);
}

/** Serves until a signal comes and what is under way is done; a second signal ends at once. */
function stopped(server: Running, screen: Terminal): Promise<Dropped> {
  return new Promise((done) => {
    let asked = false;
    const stop = (): void => {
      if (asked) process.exit(130);
      asked = true;
      screen.say("stopping: finishing what is under way (Ctrl-C again ends at once)");
      void server.stop().then((dropped) => {
        process.removeListener("SIGINT", stop);
        process.removeListener("SIGTERM", stop);
        done(dropped);
      });
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });
}

export const serveCommand: Command = {
  name: "serve",
  usage: "mlgpf serve MODEL [MODEL ...] [--port 8080] [--host 127.0.0.1]",
  summary: "answer predictions over HTTP: POST /predict, GET /health, GET /metrics, and Annif's /v1",
  examples: [
    "mlgpf serve tagger.safetensors",
    `curl localhost:8080/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'`,
    "mlgpf serve tagger.safetensors --learn tagger.state --token secret",
    "mlgpf serve first.bin second.bin --id first --id second --labels-file subjects.tsv",
  ],
  flags,
  run,
};
