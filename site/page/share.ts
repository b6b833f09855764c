// The address of the page may name a text, and where a model is (#text=...&model=...). It stays behind the #, which no server is sent.

export interface Shared {
  text?: string | undefined;
  /** Absolute. */
  model?: string | undefined;
}

/** Reads the part of an address behind the #. */
export function readShared(hash: string, page: string): Shared {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const [text, model] = [values.get("text"), values.get("model")];
  return { ...(text && { text }), ...(model && { model: new URL(model, page).href }) };
}

/** The address of a page with a text and a model. */
export function sharedAddress(page: string, { text, model }: Shared): string {
  const address = new URL(page);
  address.hash = new URLSearchParams({ ...(text && { text }), ...(model && { model }) }).toString();
  return address.href;
}
