// Where a Worker's model lies, and when it looks for a newer one: R2, KV, or any address. A newer model is loaded beside
// the one that answers and takes over when it is ready; no request waits for it, none is lost.

import { load, type Tagger } from "mlgpf/edge";

/** The bindings of wrangler.toml; one of MODELS, MODELS_KV and MODEL_URL is enough. */
export interface Env {
  /** An R2 bucket: any size. */
  MODELS?: {
    head(key: string): Promise<{ httpEtag: string } | null>;
    get(key: string): Promise<{ body: ReadableStream<Uint8Array> } | null>;
  };
  /** A KV namespace: up to 25 MiB. The version is the metadata of the entry. */
  MODELS_KV?: {
    list(options: { prefix: string }): Promise<{ keys: { name: string; metadata?: unknown }[] }>;
    get(key: string, type: "stream"): Promise<ReadableStream<Uint8Array> | null>;
  };
  /** Anything that answers HEAD with an ETag and GET with the model. */
  MODEL_URL?: string;
  /** The model's name in the bucket or namespace. */
  MODEL_KEY?: string;
  /** Seconds between two looks for a newer model. */
  CHECK_SECONDS?: string;
}

/** The model that is there now: its version, and how to get it. */
interface Found {
  version: string;
  open(): Promise<Response | ReadableStream<Uint8Array>>;
}

const missing = (what: string): never => {
  throw new Error(`found no ${what}, expected a model made by mlgpf compact`);
};

async function find({ MODELS, MODELS_KV, MODEL_URL, MODEL_KEY = "tagger.bin" }: Env): Promise<Found> {
  if (MODELS) {
    const { httpEtag } = (await MODELS.head(MODEL_KEY)) ?? missing(`${MODEL_KEY} in the bucket`);
    return { version: httpEtag, open: async () => (await MODELS.get(MODEL_KEY))?.body ?? missing(MODEL_KEY) };
  }
  if (MODELS_KV) {
    const { keys } = await MODELS_KV.list({ prefix: MODEL_KEY });
    const { metadata } = keys.find(({ name }) => name === MODEL_KEY) ?? missing(`${MODEL_KEY} in KV`);
    const open = async (): Promise<ReadableStream<Uint8Array>> =>
      (await MODELS_KV.get(MODEL_KEY, "stream")) ?? missing(MODEL_KEY);
    return { version: JSON.stringify(metadata), open };
  }
  const url = MODEL_URL ?? missing("MODELS, MODELS_KV or MODEL_URL");
  const { ok, headers } = await fetch(url, { method: "HEAD" });
  if (!ok) missing(url);
  return { version: headers.get("etag") ?? headers.get("last-modified") ?? "", open: () => fetch(url) };
}

interface Current {
  version: string;
  tagger: Tagger;
}

let current: Promise<Current> | undefined;
let looked = 0;

async function fetchModel({ version, open }: Found, wasm?: WebAssembly.Module): Promise<Current> {
  return { version, tagger: await load(open, wasm ? { wasm } : {}) };
}

/** Loads a newer model if there is one. */
async function refresh(env: Env, wasm?: WebAssembly.Module): Promise<void> {
  const found = await find(env);
  const { version } = (await current) as Current;
  if (found.version === version) return;
  const next = await fetchModel(found, wasm);
  current = Promise.resolve(next);
}

/**
 * The tagger that answers now. The first request waits for it; now and then one starts a look for a newer model, which
 * `later` (ctx.waitUntil) lets finish after the answer.
 */
export async function tagger(
  env: Env,
  later: (work: Promise<unknown>) => void,
  wasm?: WebAssembly.Module,
): Promise<Tagger> {
  const now = Date.now();
  if (current === undefined) {
    looked = now;
    current = find(env).then((found) => fetchModel(found, wasm));
    // A model that cannot be had now may be there for the next request.
    current.catch(() => {
      current = undefined;
    });
  } else if (now - looked >= 1000 * Number(env.CHECK_SECONDS ?? 60)) {
    looked = now;
    later(refresh(env, wasm).catch((error) => console.error(`the model stays as it was: ${error.message}`)));
  }
  return (await current).tagger;
}
