// mlgpf serve MODEL [MODEL ...]

import { basename } from "node:path";
import process from "node:process";
import { readWhole } from "../io/files.ts";
import type { Real, Whole } from "../options/kinds.ts";
import { MOST_WEIGHT } from "../parts/regression/documents.ts";
import { counted } from "../report/numbers.ts";
import { HeldBytes } from "../serve/body.ts";
import { bulkThread } from "../serve/bulk.ts";
import { garbageCollector } from "../serve/garbage.ts";
import { isLoopback } from "../serve/hosts.ts";
import { LearningProject } from "../serve/learning/project.ts";
import { defaultLimits, type Limits } from "../serve/limits.ts";
import { type FileProject, openProject } from "../serve/models.ts";
import { listen } from "../serve/node.ts";
import { Service } from "../serve/service.ts";
import { readSubjects, type Subjects } from "../serve/subjects.ts";
import { oneByOne } from "../serve/threads.ts";
import { type Command, command, hearSignals } from "./command.ts";
import { listOptions, readLists, sayUnknown } from "./data.ts";
import { type CommandOption, count, type Given, names, quiet, real, text, UsageError } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

const MEGABYTE = 2 ** 20;
const MOST = 1e6;
const { bodyBytes, batch, answerLabels, requests, heldBytes, seconds } = defaultLimits;

/** Options of one limit each: the name of the flag and the default. */
const megabytes = (name: string, to: number, bytes: number, meaning: string): CommandOption<Real> =>
  real("MB", meaning, { above: 0, to, flag: { name, unit: MEGABYTE }, default: String(bytes / MEGABYTE) });
const most = (name: string, to: number, number: number, meaning: string): CommandOption<Whole> =>
  count(meaning, { to, flag: { name }, default: String(number) });

const limitOptions = {
  bodyBytes: megabytes("max-body", 1024, bodyBytes, "maximum size of a request, unpacked"),
  batch: most("max-batch", MOST, batch, "maximum texts in one request"),
  answerLabels: most("max-answer", 1e8, answerLabels, "maximum labels in one answer, over all its texts"),
  requests: most("max-requests", MOST, requests, "maximum requests in flight; beyond it clients get 503"),
  heldBytes: megabytes(
    "max-held",
    MOST,
    heldBytes,
    "memory for large requests in flight and documents not learned yet; beyond it clients get 503",
  ),
  seconds: real("SECONDS", "time limit for sending a request, for taking its answer, and for shutting down", {
    above: 0,
    to: 3600,
    flag: { name: "timeout" },
    default: String(seconds),
  }),
} as const;

const options = {
  port: { kind: "whole", to: 65535, meaning: "port to listen on; 0 takes a free one", default: "8080" },
  host: text("NAME", "address to listen on", { default: "127.0.0.1, this machine only" }),
  id: names("NAME", "name of each model in URLs, in order", { default: "its file's" }),
  language: names("CODE", "language of each model's texts", { default: "en" }),
  labelsFile: names(
    "FILE",
    "URIs, names and notations of the labels (TSV or CSV: uri, label, notation); one for all models or for each",
  ),
  learn: names(
    "[ID=]STATE",
    "accept training documents at /v1/projects/{id}/learn; the state of each model in order, or of the one named ID",
  ),
  embed: names(
    "[ID=]MODULE",
    "ES module whose embed(texts) makes the vectors of texts that come without; of each model in order, or of the one named ID",
  ),
  weight: count("each training document counts as N", { to: MOST_WEIGHT, default: "1" }),
  maxLabels: count("maximum labels of a model that learns", { to: 1e8, default: "as many as 2 GB hold" }),
  token: text("TOKEN", "bearer token required to send training documents", {
    default: "MLGPF_TOKEN of the environment; without one only this machine may send them",
  }),
  ...listOptions,
  allowHost: names("NAME", "host name that clients may use, beside localhost; may be repeated"),
  cors: names("ORIGIN", "origin whose pages may send requests (https://example.org), or *; may be repeated"),
  quiet,
} as const;

type ServeOptions = Given<typeof options>;

/** The values of a flag for each model: one for each or, where that is enough, one for all; none where it was not given. */
function perModel<T>(flag: string, values: readonly T[] = [], models: number, forAll = true): (T | undefined)[] {
  if (values.length > 0 && values.length !== models && !(forAll && values.length === 1))
    throw new UsageError(
      `--${flag}: found ${values.length} for ${models} models, expected one for each${forAll ? " or one for all" : ""}`,
    );
  return Array.from({ length: models }, (_, i) => values[values.length === 1 ? 0 : i]);
}

function idsOf(paths: readonly string[], given: ServeOptions): string[] {
  const named = perModel("id", given.id, paths.length, false);
  const ids = paths.map((path, i) => named[i] ?? basename(path).replace(/(?<=.)\.[^.]*$/, ""));
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined)
    throw new UsageError(`--id: found two models called ${twice}, expected a name of its own for each`);
  return ids;
}

type ServedProject = FileProject | LearningProject;

/** A file of some of the models: in order where there is one for each, else by the names of the models. */
function byModel(
  flag: "learn" | "embed",
  ids: readonly string[],
  given: readonly string[] = [],
): (string | undefined)[] {
  const named = given.map((typed) => ({ typed, at: ids.findIndex((id) => typed.startsWith(`${id}=`)) }));
  if (named.every(({ at }) => at < 0) && given.length === ids.length) return [...given];
  const file = flag === "learn" ? "state" : "module";
  const files = new Array<string | undefined>(ids.length).fill(undefined);
  for (const { typed, at } of named) {
    if (at < 0 || files[at] !== undefined)
      throw new UsageError(
        `--${flag}: found ${typed} for ${ids.length} models, expected a ${file} for each, or ID=${file.toUpperCase()} once with one of ${ids.join(", ")}`,
      );
    files[at] = typed.slice(ids[at].length + 1);
  }
  return files;
}

async function openProjects(
  paths: readonly string[],
  given: ServeOptions,
  held: HeldBytes,
  screen: Terminal,
): Promise<ServedProject[]> {
  const ids = idsOf(paths, given);
  const languages = perModel("language", given.language, paths.length);
  const states = byModel("learn", ids, given.learn);
  const embedders = byModel("embed", ids, given.embed);
  const tables: Subjects[] = [];
  for (const file of given.labelsFile ?? [])
    tables.push(readSubjects(new TextDecoder().decode(await readWhole(file)), file));
  const subjects = perModel("labels-file", tables, paths.length);
  const taught = { weight: given.weight, maxLabels: given.maxLabels, held, say: screen.say };
  const projects: ServedProject[] = [];
  for (const [i, path] of paths.entries()) {
    screen.show(`Opening ${path}`);
    const [state, table] = [states[i], subjects[i]];
    const about = { id: ids[i], language: languages[i] ?? "en", subjects: table, embed: embedders[i] };
    projects.push(
      state === undefined
        ? await openProject(path, about)
        : await LearningProject.open({ ...about, ...taught, paths: { model: path, state } }),
    );
    const { labels: names } = projects[i].model.tagger;
    if (table && !Array.from(names).some((name) => table.get(name)))
      screen.say(`${path}: none of its labels is in the --labels-file (the first is ${names[0]})`);
  }
  return projects;
}

/** The token that training documents must come with; without one no other machine may send some. */
function tokenOf(given: ServeOptions, host: string): string | undefined {
  const token = given.token ?? process.env.MLGPF_TOKEN;
  if (token === "") throw new UsageError("--token: found nothing, expected a token");
  const open = !isLoopback(host) ? `--host ${host}` : given.cors?.includes("*") ? "--cors *" : undefined;
  if (token === undefined && given.learn !== undefined && open !== undefined)
    throw new UsageError(`--learn: found no token with ${open}, expected --token TOKEN or MLGPF_TOKEN`);
  return token;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use (--port 0 takes a free one)",
  EACCES: "permission denied",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "there is no such host",
};

/** Reads the models again at each SIGHUP, one signal after the other; returns how to leave off. */
function reloadOnHangup(projects: readonly FileProject[], screen: Terminal): () => void {
  const next = oneByOne();
  const reload = async (): Promise<void> => {
    for (const project of projects) {
      try {
        await project.reload();
        screen.say(`Reloaded ${project.path} (${project.model.labels} labels)`);
      } catch (error) {
        console.error(`mlgpf: ${(error as Error).message}; still serving the model as it was`);
      }
    }
  };
  const heard = (): unknown => next(reload);
  process.on("SIGHUP", heard);
  return () => process.removeListener("SIGHUP", heard);
}

/** The part of the time to stop in which a model that learns has to finish: the rest is for ending its threads. */
const LEARNING_SHARE = 0.8;
const GRACE_MILLISECONDS = 500;

export const serveCommand: Command = command({
  name: "serve",
  positionals: "MODEL ...",
  summary: "serve predictions over HTTP: POST /predict, GET /health, GET /metrics, and Annif's /v1",
  examples: [
    "mlgpf serve tagger.safetensors",
    `curl localhost:8080/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'`,
    "mlgpf serve tagger.safetensors --learn tagger.state --token secret",
    "mlgpf serve first.bin second.bin --id first --id second --labels-file subjects.tsv",
  ],
  options,
  tables: { Limits: limitOptions },
  async run({ args, given, of, screen }) {
    const { port = 8080, host = "127.0.0.1", allowHost: hosts = [] } = given;
    const limits: Limits = { ...defaultLimits, ...of(limitOptions) };
    for (const name of ["bodyBytes", "heldBytes"] as const)
      limits[name] = Math.min(2 ** 31 - 1, Math.ceil(limits[name]));
    const lists = await readLists(given);
    const token = tokenOf(given, host);
    const held = new HeldBytes(limits.heldBytes, garbageCollector());
    const projects = await openProjects(args, given, held, screen);
    const bulk = bulkThread(projects, limits, lists);
    const service = new Service(projects, {
      limits,
      ...lists,
      bulk: bulk.answer,
      held,
      token,
      origins: given.cors ?? [],
      ...(isLoopback(host) || hosts.length > 0 ? { hosts } : {}),
    });
    sayUnknown(
      lists,
      projects.flatMap(({ model }) => Array.from(model.tagger.labels)),
      screen,
    );
    const server = await listen(service, { host, port }).catch(({ code, message }) => {
      throw new Error(`cannot listen on ${host}:${port}: ${REASONS[code] ?? message}`);
    });
    for (const { path, model } of projects)
      screen.say(`Serving ${path} (${counted(model.labels, "label")}) at ${server.url}; Ctrl-C stops`);
    const learners = projects.filter((project) => project instanceof LearningProject);
    const files = projects.filter((project) => "reload" in project);
    const forget = reloadOnHangup(files, screen);
    await new Promise<unknown>((signalled) => hearSignals(signalled));
    screen.say("Stopping: finishing requests in flight (Ctrl-C again stops at once)");
    // All within the time, whatever a runtime still keeps open: what waits to be learned is in the journal.
    const milliseconds = limits.seconds * 1000;
    const exitAfter = (wait: number): unknown => setTimeout(() => process.exit(), wait).unref();
    exitAfter(milliseconds + GRACE_MILLISECONDS);
    const learning = learners.map((project) => project.stop(LEARNING_SHARE * milliseconds));
    const [dropped] = await Promise.all([server.stop(), ...learning]);
    forget();
    bulk.stop();
    if (dropped.requests + dropped.connections > 0)
      screen.say(
        `Stopped after ${limits.seconds} s: dropped ${dropped.requests} requests in flight and ${dropped.connections} connections without one`,
      );
    exitAfter(GRACE_MILLISECONDS);
  },
});
