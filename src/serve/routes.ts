// Which paths there are, and what each takes.

import { excerpt } from "../data/errors.ts";
import { NDJSON_TYPE } from "./answer.ts";
import { PREDICT_TYPES } from "./question.ts";
import { Refusal } from "./refusal.ts";
import { FORM_TYPE } from "./suggest.ts";
import type { WorkKind } from "./work.ts";

/** A path with {id} where a project's name stands. */
export interface Route {
  readonly path: string;
  /** Methods, as in the header Allow. */
  readonly methods: string;
  /** What is done with a body, and the types it may have. */
  readonly work?: { readonly kind: WorkKind | "learn"; readonly types: readonly string[] };
}

const GET = "GET, HEAD";
const project = "/v1/projects/{id}";
const predict = { kind: "predict", types: PREDICT_TYPES } as const;

const routes: readonly Route[] = [
  { path: "/", methods: GET },
  { path: "/health", methods: GET },
  { path: "/metrics", methods: GET },
  { path: "/predict", methods: "POST", work: predict },
  { path: "/predict/{id}", methods: "POST", work: predict },
  { path: "/v1", methods: GET },
  { path: "/v1/projects", methods: GET },
  { path: project, methods: GET },
  { path: `${project}/suggest`, methods: "POST", work: { kind: "suggest", types: [FORM_TYPE] } },
  {
    path: `${project}/suggest-batch`,
    methods: "POST",
    work: { kind: "suggest-batch", types: ["application/json"] },
  },
  { path: `${project}/learn`, methods: "POST", work: { kind: "learn", types: ["application/json"] } },
  { path: "/v1/detect-language", methods: "POST" },
  { path: `${project}/detect-language`, methods: "POST" },
];

const bySegments = new Map(routes.map((route) => [route.path, route]));

/** The route of a path and the name in the place of {id}; a slash at the end of /v1 and below may be there or not. */
export function findRoute(path: string): { route: Route; id: string | undefined } | undefined {
  const trimmed = path.startsWith("/v1") ? path.replace(/\/$/, "") : path;
  const exact = bySegments.get(trimmed);
  if (exact) return { route: exact, id: undefined };
  const parts = /^(\/predict|\/v1\/projects)\/([^/]+)(\/[^/]+)?$/.exec(trimmed);
  const route = parts && bySegments.get(`${parts[1]}/{id}${parts[3] ?? ""}`);
  return route ? { route, id: decoded(parts[2] as string) } : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function noSuchPath(path: string): Refusal {
  return new Refusal(
    404,
    `found the path ${excerpt(path)}, expected ${routes.map((each) => each.path).join(", ")}`,
  );
}

export function checkMethod({ path, methods }: Route, method: string): void {
  if (!methods.split(", ").includes(method))
    throw new Refusal(405, `${path}: found ${excerpt(method)}, expected ${methods}`, { allow: methods });
}

/** GET / */
export const welcome = (
  host: string,
  labels: number,
  ids: readonly string[],
): string => `mlgpf: a tagger with ${labels} labels. Ask it:

  curl http://${host}/predict -H 'content-type: application/json' -d '{"text": "a large wild cat"}'

POST /predict   {"text": "..."}, {"texts": ["...", "..."]}, {"features": {"name": 1.5}} or a list of these;
                also "topK": 5, "threshold": 0.1 and "explain": 3 (in the object, or /predict?topK=5&threshold=0.1);
                a line for each input with content-type ${NDJSON_TYPE}; /predict/{id} asks one of: ${ids.join(", ")}
GET /health     whether it is there
GET /metrics    counts and latencies for Prometheus
GET /v1/        the shape of Annif's REST API: /v1/projects, /v1/projects/{id}/suggest
`;
