// The last model, kept in this browser (IndexedDB): one, of bounded size, until it is thrown away.

import type { NamedFile } from "./download.ts";

export interface KeptModel extends NamedFile {
  /** When it was kept, in milliseconds since 1970. */
  when: number;
}

/** Bytes of the largest model that is kept. */
const MOST_KEPT = 256 * 2 ** 20;
const STORE = "models";
const LAST = "last";

/** Opens the store, does one thing with it and closes it. */
async function withStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open("mlgpf", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  try {
    const transaction = database.transaction(STORE, mode);
    const finished = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const request = work(transaction.objectStore(STORE));
    // Only then is it on the disk; what the request says comes before.
    await finished;
    return request.result;
  } finally {
    database.close();
  }
}

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** The model that was kept last, if there is one and the browser gives it. */
export async function keptModel(): Promise<KeptModel | undefined> {
  return await withStore("readonly", (store) => store.get(LAST)).catch(() => undefined);
}

/** Keeps a model in place of the one before; false where the browser does not, and then the one before is gone too. */
export async function keepModel({ name, content }: NamedFile): Promise<boolean> {
  const kept: KeptModel = { name, content, when: Date.now() };
  try {
    if (content.size > MOST_KEPT) throw new RangeError("too large");
    await withStore("readwrite", (store) => store.put(kept, LAST));
    return true;
  } catch {
    await forgetModel();
    return false;
  }
}

export async function forgetModel(): Promise<void> {
  await withStore("readwrite", (store) => store.delete(LAST)).catch(() => {});
}
