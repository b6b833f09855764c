// Who may come in: the names that the server is asked by, the pages of other origins that may ask it, and the token of those
// who teach.
//
// A page of a stranger can make its name point to this machine (DNS rebinding); its requests then carry that name in
// Host, so a server that only this machine should reach answers to the names of this machine alone.

import { excerpt } from "../base/errors.ts";
import { HttpError, type HttpRequest } from "./http.ts";

type Head = Pick<HttpRequest, "method" | "header">;

/** `Example.org:8080` -> `example.org`, `[::1]:8080` -> `::1` */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return (bracketed ?? host.replace(/:\d*$/, "")).toLowerCase().replace(/\.$/, "");
}

export const isLoopback = (name: string): boolean =>
  /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/.test(name.toLowerCase());

/** Which hosts and origins a server answers. */
export interface HostOptions {
  /** Names that Host may have, beside those of this machine; without the list any. */
  readonly hosts?: readonly string[];
  /** Origins whose pages may ask (CORS), or "*" for all. */
  readonly origins?: readonly string[];
}

export class HostPolicy {
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: readonly string[];

  constructor({ hosts, origins = [] }: HostOptions) {
    this.#hosts = hosts && new Set(hosts.map(nameOf));
    this.#origins = origins.map((origin) => origin.toLowerCase().replace(/\/$/, ""));
  }

  /** Refuses a request that came under another name. Without Host it comes from no browser. */
  check({ header }: Head): void {
    const host = header("host");
    if (!this.#hosts || !host) return;
    const name = nameOf(host);
    if (isLoopback(name) || this.#hosts.has(name)) return;
    const expected = "localhost or a name given to --allow-host";
    throw new HttpError(421, `host: found ${excerpt(host)}, expected ${expected}`);
  }

  headers({ header }: Head): Record<string, string> {
    if (this.#origins.length === 0) return {};
    const origin = header("origin");
    const allowed = origin && this.#allows(origin);
    return { vary: "origin", ...(allowed ? { "access-control-allow-origin": origin } : {}) };
  }

  /** Headers for a browser that asks before it sends a page's request; undefined where this is something else. */
  preflight({ method, header }: Head, allowed: string): Record<string, string> | undefined {
    const origin = header("origin");
    if (method !== "OPTIONS" || !origin || !header("access-control-request-method")) return undefined;
    if (!this.#allows(origin)) return undefined;
    return {
      "access-control-allow-methods": allowed,
      "access-control-allow-headers": "authorization, content-encoding, content-type",
      "access-control-max-age": "600",
    };
  }

  #allows(origin: string): boolean {
    return this.#origins.includes("*") || this.#origins.includes(origin.toLowerCase());
  }
}

/** Refuses a request without the token, if there is one. The time it takes does not tell how much of it was right. */
export function checkToken({ header }: Head, token: string | undefined): void {
  if (token === undefined) return;
  const authorization = header("authorization") ?? "";
  const given = /^Bearer (.*)$/i.exec(authorization)?.[1];
  if (given !== undefined && equal(given, token)) return;
  const found = authorization === "" ? "none" : "another token";
  throw new HttpError(401, `authorization: found ${found}, expected "Bearer TOKEN"`, {
    "www-authenticate": "Bearer",
  });
}

function equal(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  let difference = left.length ^ right.length;
  for (let i = 0; i < right.length; i++) difference |= (left[i % left.length] ?? 0) ^ right[i];
  return difference === 0;
}
