// What Annif's REST interface says of a server and its projects, as its clients read it.

import { version } from "../version.ts";
import { type Answer, json } from "./answer.ts";
import type { Project } from "./project.ts";
import type { Refusal } from "./refusal.ts";

/** GET /v1/ */
export const aboutService = (): Answer =>
  json(200, { title: "mlgpf, in the shape of Annif's REST API", version });

/** One project, as in GET /v1/projects/{id}. */
export function aboutProject({ id, name, language, model, subjects, learning }: Project): object {
  return {
    project_id: id,
    name,
    language,
    backend: { backend_id: "mlgpf" },
    is_trained: true,
    modification_time: model.modified?.toISOString() ?? null,
    vocab: { vocab_id: id, languages: subjects?.languages ?? [language], size: model.labels, loaded: true },
    vocab_language: language,
    ...(learning && { learning }),
  };
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Learning not allowed",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  501: "Not Implemented",
  503: "Service unavailable",
  507: "Insufficient Storage",
};

/** A refusal as a problem (RFC 9457), which Annif's clients show. */
export function problem({ status, message, headers }: Refusal): Answer {
  const type = { "content-type": "application/problem+json" };
  const about = { type: "about:blank", title: TITLES[status] ?? "Error", status, detail: message };
  return json(status, about, { ...type, ...headers });
}
