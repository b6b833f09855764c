// The server without its sockets: a request in, a reply out. The hosts (handler.ts for Request and Response, node.ts for
// node:http) only carry bytes. A route is an entry of the table below, with its handler. Small requests are answered at once in
// this thread, large ones wait in line for another, or for their turn in this one.

import { clean, excerpt } from "../base/errors.ts";
import type { LabelLists } from "../base/prediction.ts";
import { page } from "../generated/page.ts";
import { version } from "../version.ts";
import {
  aboutProject,
  aboutVocabulary,
  FORM_TYPE,
  listDocuments,
  parseDocuments,
  parseIds,
  problem,
  queryDocuments,
} from "./annif.ts";
import { type Body, HeldBytes, Holding, readBody } from "./body.ts";
import { BulkQueue, type DoBulk, Executor, type Job, type JobKind } from "./executor.ts";
import { checkToken, type HostOptions, HostPolicy } from "./hosts.ts";
import {
  busy,
  empty,
  HttpError,
  type HttpRequest,
  JSON_TYPE,
  json,
  NDJSON_TYPE,
  type OpenReply,
  plain,
  type Reply,
} from "./http.ts";
import { completeLimits, type Limits, SMALL } from "./limits.ts";
import { ServerMetrics } from "./metrics.ts";
import type { Learning, Project } from "./project.ts";
import { PREDICT_TYPES } from "./question.ts";

export interface ServiceOptions extends HostOptions, LabelLists {
  readonly limits?: Partial<Limits>;
  readonly bulk?: DoBulk;
  /** Bytes that are held, where others count theirs too. */
  readonly held?: HeldBytes;
  readonly token?: string;
}

interface RequestContext {
  readonly service: Service;
  readonly request: HttpRequest;
  readonly route: Route;
  readonly query: string;
  /** Place of the project that the path names; the first where it names none. */
  readonly index: number;
  readonly project: Project;
  readonly holding: Holding;
  /** True once it has one of the places. */
  placed: boolean;
}

type Handler = (context: RequestContext) => Reply | Promise<Reply>;

/** A path with {id} where a project's name stands. */
interface Route {
  readonly path: string;
  readonly methods: string;
  readonly types: readonly string[];
  readonly handle: Handler;
}

const get = (path: string, handle: Handler): Route => ({ path, methods: "GET, HEAD", types: [], handle });
const post = (path: string, types: readonly string[], handle: Handler): Route => ({
  path,
  methods: "POST",
  types,
  handle,
});
const predict = (path: string, types: readonly string[], kind: JobKind): Route =>
  post(path, types, (context) => context.service.predict(kind, context));

/** A route for those who know the token; refused where the project does not learn. */
const teach = (
  path: string,
  work: (learning: Learning, body: Uint8Array, batch: number, project: Project) => Promise<unknown>,
): Route =>
  post(path, [JSON_TYPE], async (context) => {
    const learning = learningOf(context);
    const { bytes } = await read(context);
    const found = await work(learning, bytes, context.service.limits.batch, context.project);
    return found === undefined ? empty() : json(200, found);
  });

const PROJECT = "/v1/projects/{id}";
/** The page has all that it needs in itself, asks this server alone, and stands in no other page. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'";

const routes: readonly Route[] = [
  get("/", ({ service, request }) => {
    if (!request.header("accept")?.includes("text/html"))
      return plain(welcome(request.header("host") ?? "localhost", service.projects));
    const { status, headers, body } = plain(page, "text/html; charset=utf-8");
    return { status, headers: { ...headers, "content-security-policy": PAGE_POLICY, vary: "accept" }, body };
  }),
  get("/health", ({ service: { metrics, projects } }) => {
    const models = Object.fromEntries(projects.map(({ id, model }) => [id, model.tagger.info ?? {}]));
    const promises = Object.fromEntries(projects.map(({ id, learning }) => [id, learning?.promises]));
    return json(200, { status: "ok", uptimeSeconds: metrics.uptimeSeconds, models, promises });
  }),
  get("/metrics", ({ service: { metrics, projects } }) => {
    return plain(metrics.text(projects), "text/plain; version=0.0.4; charset=utf-8");
  }),
  predict("/predict", PREDICT_TYPES, "predict"),
  predict("/predict/{id}", PREDICT_TYPES, "predict"),
  get("/v1", () => json(200, { title: "mlgpf, in the shape of Annif's REST API", version })),
  get("/v1/vocabs", ({ service }) => json(200, { vocabs: service.projects.map(aboutVocabulary) })),
  get("/v1/projects", ({ service }) => json(200, { projects: service.projects.map(aboutProject) })),
  get(PROJECT, ({ project }) => json(200, aboutProject(project))),
  predict(`${PROJECT}/suggest`, [FORM_TYPE], "suggest"),
  predict(`${PROJECT}/suggest-batch`, [JSON_TYPE], "suggest-batch"),
  teach(`${PROJECT}/learn`, (learning, body, batch) => learning.learn(parseDocuments(body, batch))),
  teach(`${PROJECT}/forget`, (learning, body, batch) => learning.forget(parseIds(body, batch))),
  teach(`${PROJECT}/query`, (learning, body, batch, project) => queryDocuments(body, batch, learning, project)),
  get(`${PROJECT}/documents`, (context) => {
    return json(200, listDocuments(context.query, learningOf(context).documentIds));
  }),
  ...["/v1/detect-language", `${PROJECT}/detect-language`].map((path) =>
    post(path, [], () => {
      throw new HttpError(501, "found a question about the language of a text, expected one about its subjects");
    }),
  ),
];

const byPath = new Map(routes.map((route) => [route.path, route]));

/** The route of a path and the name in the place of {id}; a slash at the end of /v1 and below may be there or not. */
function findRoute(path: string): { route?: Route | undefined; id?: string } {
  const trimmed = path.startsWith("/v1") ? path.replace(/\/$/, "") : path;
  const exact = byPath.get(trimmed);
  const parts = /^(\/predict|\/v1\/projects)\/([^/]+)(\/[^/]+)?$/.exec(trimmed);
  if (exact || !parts) return { route: exact };
  return { route: byPath.get(`${parts[1]}/{id}${parts[3] ?? ""}`), id: decoded(parts[2]) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const read = ({ service, request, route, query, holding }: RequestContext): Promise<Body> =>
  readBody(request, route.types, query, service.limits, holding);

function learningOf({ service, request, project }: RequestContext): Learning {
  if (!project.learning)
    throw new HttpError(403, `Project '${project.id}' is not configured to allow learning via API`);
  checkToken(request, service.token);
  return project.learning;
}

export class Service {
  readonly limits: Limits;
  readonly projects: readonly Project[];
  readonly metrics: ServerMetrics;
  readonly token: string | undefined;
  readonly #policy: HostPolicy;
  readonly #executor: Executor;
  readonly #bulk: BulkQueue;
  readonly #held: HeldBytes;
  #inFlight = 0;
  #places = 0;

  constructor(projects: readonly Project[], options: ServiceOptions = {}) {
    this.limits = completeLimits(options.limits);
    this.projects = projects;
    this.token = options.token;
    this.#policy = new HostPolicy(options);
    this.#held = options.held ?? new HeldBytes(this.limits.heldBytes);
    const executor = new Executor(projects, this.limits, options);
    this.#executor = executor;
    // A model that learns has a thread of its own already.
    this.#bulk = new BulkQueue(async (job) =>
      options.bulk && projects[job.project].model.bytes
        ? options.bulk(job)
        : executor.answer(executor.read(job), job.project),
    );
    this.metrics = new ServerMetrics(() => ({
      requests_in_flight: this.#inFlight,
      inputs_waiting: executor.waiting,
      large_requests_waiting: this.#bulk.waiting,
      held_bytes: this.#held.total,
    }));
  }

  async answer(request: HttpRequest): Promise<OpenReply> {
    const begin = performance.now();
    const [path = "", query = ""] = request.target.split("?", 2);
    const { route, id } = findRoute(path);
    const holding = new Holding(this.#held);
    let context: RequestContext | undefined;
    this.#inFlight++;
    let reply: Reply;
    try {
      this.#policy.check(request);
      if (!route) {
        const known = routes.map((each) => each.path).join(", ");
        throw new HttpError(404, `found the path ${excerpt(path)}, expected ${known}`);
      }
      const preflight = this.#policy.preflight(request, route.methods);
      if (preflight) reply = empty(preflight);
      else {
        const { methods } = route;
        if (!methods.split(", ").includes(request.method)) {
          const sentence = `${route.path}: found ${excerpt(request.method)}, expected ${methods}`;
          throw new HttpError(405, sentence, { allow: methods });
        }
        const index = this.#indexOf(id);
        const project = this.projects[index];
        context = { service: this, request, route, query, index, project, holding, placed: false };
        reply = await route.handle(context);
      }
    } catch (error) {
      reply = replyTo(error, path);
    }
    Object.assign(reply.headers, this.#policy.headers(request));
    this.metrics.request(route?.path ?? "other", reply.status, (performance.now() - begin) / 1000);
    return this.#open(reply, () => {
      holding.release();
      if (context?.placed) this.#places--;
    });
  }

  /** Answers without looking any further, where a host has to refuse. */
  refuse(error: HttpError): OpenReply {
    this.metrics.request("other", error.status, 0);
    this.#inFlight++;
    return this.#open(replyTo(error, ""), () => {});
  }

  async predict(kind: JobKind, context: RequestContext): Promise<Reply> {
    const { request, index: project, holding } = context;
    const job = { ...(await read(context)), kind, project };
    if (this.#places >= this.limits.requests) throw busy(`${this.limits.requests} requests are under way`);
    this.#places++;
    context.placed = true;
    const reply = await this.#answer(job, () => request.gone());
    this.metrics.predicted(reply.inputs ?? 0);
    // The body is done with; a reply counts until the client has taken it.
    holding.release();
    for (const piece of typeof reply.body === "string" ? [] : reply.body) holding.add(piece.length);
    return reply;
  }

  #answer(job: Job, gone: () => boolean): Promise<Reply> {
    if (job.bytes.length <= SMALL.bodyBytes) {
      const question = this.#executor.read(job);
      if (this.#executor.isSmall(question, job.project)) return this.#executor.answer(question, job.project, gone);
    }
    return this.#bulk.answer(job, gone);
  }

  #indexOf(id: string | undefined): number {
    if (id === undefined) return 0;
    const index = this.projects.findIndex((project) => project.id === id);
    if (index >= 0) return index;
    const known = this.projects.map((project) => project.id).join(", ");
    throw new HttpError(404, `Project '${id.slice(0, 100)}' not found, expected one of ${known}`);
  }

  #open(reply: Reply, end: () => void): OpenReply {
    let open = true;
    const over = (sent: boolean): void => {
      if (!open) return;
      open = false;
      this.#inFlight--;
      end();
      if (!sent) this.metrics.dropped();
    };
    return { ...reply, over };
  }
}

/** An error as a reply: one of ours in its own words, any other without. */
function replyTo(error: unknown, path: string): Reply {
  if (!(error instanceof HttpError)) {
    const { stack = String(error) } = error as Error;
    console.error(stack.split("\n").map(clean).join("\n"));
    return replyTo(new HttpError(500, "the server failed at this request"), path);
  }
  if (path.startsWith("/v1")) return problem(error);
  return json(error.status, { error: error.message }, error.headers);
}

const welcome = (host: string, projects: readonly Project[]): string =>
  `mlgpf: a tagger with ${projects[0].model.labels} labels. Ask it:

  curl http://${host}/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'

POST /predict   {"text": "..."}, {"texts": ["...", "..."]}, {"features": {"name": 1.5}} or a list of these;
                also "topK": 5, "threshold": 0.1 and "explain": 3 (in the object, or /predict?topK=5&threshold=0.1);
                one line per input with content-type ${NDJSON_TYPE}; /predict/{id} asks one of: ${projects.map(({ id }) => id).join(", ")}
GET /           in a browser: a page to try it and, where it learns, to teach it
GET /health     liveness check
GET /metrics    counts and latencies for Prometheus
GET /v1/        the shape of Annif's REST API: /v1/projects, /v1/projects/{id}/suggest
`;
