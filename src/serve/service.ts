// The server without its sockets: what was asked in, the answer out. The hosts (handler.ts for Request and Response,
// node.ts for node:http) only carry bytes.

import { excerpt } from "../data/errors.ts";
import { completeLimits, type Limits } from "./limits.ts";
import { ServerMetrics } from "./metrics.ts";
import { parseQuestion } from "./question.ts";
import { PredictionQueue } from "./queue.ts";
import { busy, Refusal, tooLong } from "./refusal.ts";
import type { FoundLabel, Tagger } from "./tagger.ts";

/** A request as a host hands it over. */
export interface Asked {
  method: string;
  /** Path and query: `/predict?topK=3` */
  target: string;
  /** A header by its lower-case name. */
  header(name: string): string | null | undefined;
  /** All of the body; a Refusal where it is too long (413) or too slow (408). */
  body(): Promise<Uint8Array>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Service {
  readonly limits: Limits;
  answer(asked: Asked): Promise<Answer>;
}

const JSON_TYPE = "application/json";
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ["/", "GET, HEAD"],
  ["/health", "GET, HEAD"],
  ["/metrics", "GET, HEAD"],
  ["/predict", "POST"],
]);

const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { "content-type": JSON_TYPE, ...headers },
  body: `${JSON.stringify(value)}\n`,
});

const plain = (body: string, type = "text/plain; charset=utf-8"): Answer => ({
  status: 200,
  headers: { "content-type": type },
  body,
});

export function createService(tagger: Tagger, given: Partial<Limits> = {}): Service {
  const limits = completeLimits(given);
  const queue = new PredictionQueue(tagger, limits.queue);
  const metrics = new ServerMetrics();
  let inFlight = 0;

  const predict = async (asked: Asked, query: string): Promise<Answer> => {
    checkBodyHeaders(asked, limits.bodyBytes);
    const { inputs, options, single } = parseQuestion(await asked.body(), query, limits.batch);
    const found = (await queue.predict(inputs, options)).map((labels) => ({ labels: labels.map(rounded) }));
    metrics.predicted(inputs.length);
    return json(200, single ? found[0] : { results: found });
  };

  const route = (asked: Asked, path: string, query: string): Answer | Promise<Answer> => {
    const allowed = ALLOWED.get(path);
    if (allowed === undefined)
      throw new Refusal(404, `found the path ${excerpt(path)}, expected ${[...ALLOWED.keys()].join(", ")}`);
    if (!allowed.split(", ").includes(asked.method))
      throw new Refusal(405, `${path}: found ${excerpt(asked.method)}, expected ${allowed}`, {
        allow: allowed,
      });
    if (path === "/predict") return predict(asked, query);
    if (path === "/metrics")
      return plain(
        metrics.text({
          inFlight,
          waiting: queue.waiting,
          labels: tagger.labels.length,
          info: tagger.info ?? {},
        }),
        "text/plain; version=0.0.4; charset=utf-8",
      );
    if (path === "/") return plain(welcome(asked.header("host") ?? "localhost", tagger.labels.length));
    return json(200, { status: "ok", uptimeSeconds: metrics.uptimeSeconds, model: tagger.info ?? {} });
  };

  const answer = async (asked: Asked): Promise<Answer> => {
    const begin = performance.now();
    const [path = "", query = ""] = asked.target.split("?", 2);
    inFlight++;
    let result: Answer;
    try {
      if (inFlight > limits.requests && path === "/predict")
        throw busy(`${limits.requests} requests are under way`);
      result = await route(asked, path, query);
    } catch (error) {
      result =
        error instanceof Refusal
          ? json(error.status, { error: error.message }, error.headers)
          : json(500, { error: "the server failed at this request" });
      if (!(error instanceof Refusal)) console.error(error);
    }
    inFlight--;
    metrics.request(ALLOWED.has(path) ? path : "other", result.status, (performance.now() - begin) / 1000);
    return result;
  };
  return { limits, answer };
}

/** What the head of a request says about its body. */
function checkBodyHeaders(asked: Asked, bodyBytes: number): void {
  const type = asked.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type && type !== JSON_TYPE)
    throw new Refusal(
      415,
      `content-type: found ${excerpt(type)}, expected ${JSON_TYPE} (curl -H 'content-type: ${JSON_TYPE}')`,
      {
        accept: JSON_TYPE,
      },
    );
  const encoding = asked.header("content-encoding");
  if (encoding && encoding !== "identity")
    throw new Refusal(415, `content-encoding: found ${excerpt(encoding)}, expected none`, {
      "accept-encoding": "identity",
    });
  if (Number(asked.header("content-length") ?? 0) > bodyBytes) throw tooLong(bodyBytes);
}

/** Six digits are more than anybody needs and half of what JSON would print. */
const digits = (value: number): number => Number(value.toPrecision(6));

function rounded({ label, probability, sd }: FoundLabel): FoundLabel {
  return sd === undefined
    ? { label, probability: digits(probability) }
    : { label, probability: digits(probability), sd: digits(sd) };
}

const welcome = (host: string, labels: number): string => `mlgpf: a tagger with ${labels} labels. Ask it:

  curl http://${host}/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'

POST /predict   {"text": "..."}, {"texts": ["...", "..."]}, {"features": {"name": 1.5}} or a list of these;
                also "topK": 5 and "threshold": 0.1 (in the object, or /predict?topK=5&threshold=0.1)
GET /health     whether it is there
GET /metrics    counts and latencies for Prometheus
`;
