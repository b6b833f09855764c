// The server without its sockets: what was asked in, the answer out. The hosts (handler.ts for Request and Response,
// node.ts for node:http) only carry bytes. Small requests are answered at once in this thread, large ones wait in line
// for another, or for their turn in this one.

import type { LabelLists } from "../metrics/allowed.ts";
import { aboutProject, aboutService, problem } from "./annif.ts";
import { type Answer, heldBytes, json, plain } from "./answer.ts";
import { HeldBytes, Holding, readBody } from "./body.ts";
import { type DoorOptions, Doors } from "./doors.ts";
import { type DoLarge, LargeLane } from "./large.ts";
import { parseDocuments } from "./learn.ts";
import { completeLimits, type Limits, SMALL } from "./limits.ts";
import { ServerMetrics } from "./metrics.ts";
import type { Project } from "./project.ts";
import { busy, Refusal } from "./refusal.ts";
import { checkMethod, findRoute, noSuchPath, type Route, welcome } from "./routes.ts";
import { checkToken } from "./token.ts";
import { type Job, Workbench } from "./work.ts";

/** A request as a host hands it over. */
export interface Asked {
  method: string;
  /** Path and query: `/predict?topK=3` */
  target: string;
  /** A header by its lower-case name. */
  header(name: string): string | null | undefined;
  /** All of the body; a Refusal where it is too slow (408), and whatever `take` throws when it is told of a piece. */
  body(take: (bytes: number) => void): Promise<Uint8Array>;
  /** Whether the client has gone away. */
  gone(): boolean;
}

/** An answer that counts until its host says that it is over with it. */
export interface OpenAnswer extends Answer {
  /** The answer was sent, or given up because the client does not take it. */
  over(sent: boolean): void;
}

export interface ServiceOptions extends DoorOptions, LabelLists {
  readonly limits?: Partial<Limits>;
  /** Does large requests elsewhere. */
  readonly large?: DoLarge;
  /** Is told of bytes that large requests no longer hold. */
  readonly freed?: (bytes: number) => void;
  /** What those must know who teach. */
  readonly token?: string | undefined;
}

export interface Service {
  readonly limits: Limits;
  /** Requests that are not over. */
  readonly underWay: number;
  answer(asked: Asked): Promise<OpenAnswer>;
  /** Answers without looking any further, where a host has to refuse. */
  refuse(refusal: Refusal): OpenAnswer;
}

/** A request on its way through the service. */
interface Passage {
  asked: Asked;
  query: string;
  holding: Holding;
  /** Whether it has taken one of the places. */
  placed: boolean;
}

class TheService implements Service {
  readonly limits: Limits;
  readonly #projects: readonly Project[];
  readonly #doors: Doors;
  readonly #workbench: Workbench;
  readonly #large: LargeLane;
  readonly #held: HeldBytes;
  readonly #metrics = new ServerMetrics();
  readonly #token: string | undefined;
  #inFlight = 0;
  #places = 0;

  constructor(projects: readonly Project[], options: ServiceOptions) {
    this.limits = completeLimits(options.limits);
    this.#projects = projects;
    this.#doors = new Doors(options);
    this.#held = new HeldBytes(this.limits.heldBytes, options.freed);
    const workbench = new Workbench(projects, this.limits, options);
    this.#workbench = workbench;
    this.#token = options.token;
    const { large } = options;
    // A model that learns has a thread of its own already.
    this.#large = new LargeLane((job) =>
      large && projects[job.project]?.learn === undefined
        ? large(job)
        : workbench.answer(workbench.read(job), job.project),
    );
  }

  get underWay(): number {
    return this.#inFlight;
  }

  async answer(asked: Asked): Promise<OpenAnswer> {
    const begin = performance.now();
    const [path = "", query = ""] = asked.target.split("?", 2);
    const passage = { asked, query, holding: new Holding(this.#held), placed: false };
    const found = findRoute(path);
    this.#inFlight++;
    let answer: Answer;
    try {
      this.#doors.check(asked);
      if (!found) throw noSuchPath(path);
      answer = await this.#route(found.route, found.id, passage);
    } catch (error) {
      answer = refused(error, path);
    }
    Object.assign(answer.headers, this.#doors.headers(asked));
    this.#metrics.request(found?.route.path ?? "other", answer.status, (performance.now() - begin) / 1000);
    return this.#open(answer, passage);
  }

  refuse(refusal: Refusal): OpenAnswer {
    this.#metrics.request("other", refusal.status, 0);
    this.#inFlight++;
    return this.#open(refused(refusal, ""));
  }

  #open(answer: Answer, passage?: Passage): OpenAnswer {
    let open = true;
    const over = (sent: boolean): void => {
      if (!open) return;
      open = false;
      this.#inFlight--;
      passage?.holding.release();
      if (passage?.placed) this.#places--;
      if (!sent) this.#metrics.dropped();
    };
    return { ...answer, over };
  }

  #route(route: Route, id: string | undefined, passage: Passage): Answer | Promise<Answer> {
    const { asked } = passage;
    const { path, work } = route;
    const preflight = this.#doors.preflight(asked, route.methods);
    if (preflight) return { status: 204, headers: preflight, body: "" };
    checkMethod(route, asked.method);
    const project = this.#indexOf(id);
    if (work?.kind === "learn") return this.#learn(passage, this.#projects[project] as Project, work.types);
    if (work) return this.#predict(passage, { kind: work.kind, project }, work.types);
    if (path.endsWith("/detect-language"))
      throw new Refusal(
        501,
        "found a question about the language of a text, expected one about its subjects",
      );
    if (path === "/v1") return aboutService();
    if (path === "/v1/projects") return json(200, { projects: this.#projects.map(aboutProject) });
    if (id !== undefined) return json(200, aboutProject(this.#projects[project] as Project));
    if (path === "/health") return this.#health();
    return path === "/metrics" ? this.#numbers() : this.#welcome(asked);
  }

  /** Which project a path names; the first where it names none. */
  #indexOf(id: string | undefined): number {
    if (id === undefined) return 0;
    const index = this.#projects.findIndex((project) => project.id === id);
    if (index < 0) {
      const known = this.#projects.map((project) => project.id).join(", ");
      throw new Refusal(404, `Project '${id.slice(0, 100)}' not found, expected one of ${known}`);
    }
    return index;
  }

  async #predict(
    passage: Passage,
    what: Pick<Job, "kind" | "project">,
    types: readonly string[],
  ): Promise<Answer> {
    const { asked, query, holding } = passage;
    const job: Job = { ...(await readBody(asked, types, query, this.limits, holding)), ...what };
    if (this.#places >= this.limits.requests) throw busy(`${this.limits.requests} requests are under way`);
    this.#places++;
    passage.placed = true;
    const answer = await this.#work(job, () => asked.gone());
    this.#metrics.predicted(answer.inputs ?? 0);
    // The body is done with; what counts from here on is an answer that the client has not taken.
    holding.release();
    holding.add(heldBytes(answer.body));
    return answer;
  }

  #work(job: Job, gone: () => boolean): Promise<Answer> {
    if (job.bytes.length <= SMALL.bodyBytes) {
      const question = this.#workbench.read(job);
      if (this.#workbench.isSmall(question, job.project))
        return this.#workbench.answer(question, job.project, gone);
    }
    return this.#large.answer(job, gone);
  }

  async #learn(passage: Passage, project: Project, types: readonly string[]): Promise<Answer> {
    if (!project.learn)
      throw new Refusal(403, `Project '${project.id}' is not configured to allow learning via API`);
    const { asked, query, holding } = passage;
    checkToken(asked.header("authorization"), this.#token);
    const body = await readBody(asked, types, query, this.limits, holding);
    await project.learn(parseDocuments(body.bytes, this.limits.batch));
    return { status: 204, headers: {}, body: "" };
  }

  #health(): Answer {
    const models = Object.fromEntries(this.#projects.map(({ id, model }) => [id, model.tagger.info ?? {}]));
    return json(200, { status: "ok", uptimeSeconds: this.#metrics.uptimeSeconds, models });
  }

  #numbers(): Answer {
    const text = this.#metrics.text({
      inFlight: this.#inFlight,
      waiting: this.#workbench.waiting,
      largeWaiting: this.#large.waiting,
      heldBytes: this.#held.total,
      models: this.#projects.map(({ id, model }) => ({
        id,
        labels: model.labels,
        info: model.tagger.info ?? {},
      })),
    });
    return plain(text, "text/plain; version=0.0.4; charset=utf-8");
  }

  #welcome({ header }: Asked): Answer {
    const { labels } = (this.#projects[0] as Project).model;
    const ids = this.#projects.map(({ id }) => id);
    return plain(welcome(header("host") ?? "localhost", labels, ids));
  }
}

/** An error as an answer: one of ours in its own words, anything else without. */
function refused(error: unknown, path: string): Answer {
  if (!(error instanceof Refusal)) {
    console.error(error);
    return refused(new Refusal(500, "the server failed at this request"), path);
  }
  if (path.startsWith("/v1")) return problem(error);
  return json(error.status, { error: error.message }, error.headers);
}

export function createService(projects: readonly Project[], options: ServiceOptions = {}): Service {
  return new TheService(projects, options);
}
