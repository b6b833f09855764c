// Who may come in: the names that the server is asked by, and the pages of other origins that may ask it.
//
// A page of a stranger can make its name point to this machine (DNS rebinding); its requests then carry that name in
// Host, so a server that only this machine should reach answers to the names of this machine alone.

import { excerpt } from "../data/errors.ts";
import { Refusal } from "./refusal.ts";

/** What a request says of itself. */
interface Heads {
  method: string;
  header(name: string): string | null | undefined;
}

/** `Example.org:8080` -> `example.org`, `[::1]:8080` -> `::1` */
function nameOf(host: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(host)?.[1];
  return (bracketed ?? host.replace(/:\d*$/, "")).toLowerCase().replace(/\.$/, "");
}

/** Whether a name or address is always this machine. */
export function isLoopback(name: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/.test(
    name.toLowerCase(),
  );
}

export interface DoorOptions {
  /** Names that Host may have, beside those of this machine; without the list any. */
  readonly hosts?: readonly string[];
  /** Origins whose pages may ask (CORS), or "*" for all. */
  readonly origins?: readonly string[];
}

export class Doors {
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: readonly string[];

  constructor({ hosts, origins = [] }: DoorOptions) {
    this.#hosts = hosts && new Set(hosts.map(nameOf));
    this.#origins = origins.map((origin) => origin.toLowerCase().replace(/\/$/, ""));
  }

  /** Refuses a request that came under another name. Without Host it comes from no browser. */
  check({ header }: Heads): void {
    const host = header("host");
    if (!this.#hosts || !host) return;
    const name = nameOf(host);
    if (isLoopback(name) || this.#hosts.has(name)) return;
    throw new Refusal(
      421,
      `host: found ${excerpt(host)}, expected localhost or a name given to --allow-host`,
    );
  }

  /** What a browser needs to read to let the page have the answer. */
  headers({ header }: Heads): Record<string, string> {
    if (this.#origins.length === 0) return {};
    const origin = header("origin");
    const allowed = origin && this.#allows(origin);
    return { vary: "origin", ...(allowed ? { "access-control-allow-origin": origin } : {}) };
  }

  /** What a browser asks before it sends a page's request; undefined where this is something else. */
  preflight({ method, header }: Heads, allowed: string): Record<string, string> | undefined {
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
