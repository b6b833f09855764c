// Files that are dropped or chosen, told apart: models, data to learn from, texts to label.

import { byId } from "./dom.ts";

/** A safetensors file starts with the length of its header, then the header's brace. */
export async function isModel(file: Blob): Promise<boolean> {
  const start = new Uint8Array(await file.slice(0, 9).arrayBuffer());
  const lengthIsSmall = start.subarray(4, 8).every((byte) => byte === 0);
  return start.length === 9 && lengthIsSmall && start[8] === "{".charCodeAt(0);
}

export interface FileTakers {
  /** To learn from. */
  data(file: File): void;
  /** To label. */
  texts(file: File): void;
  model(file: File): void;
  problem(message: string, toLabel: boolean): void;
}

export function listenForFiles(takers: FileTakers): void {
  const drop = byId("drop", HTMLElement);
  const take = async (files: FileList | null | undefined, toLabel: boolean): Promise<void> => {
    const [file, ...more] = files ?? [];
    if (file === undefined) return;
    if (more.length > 0) return takers.problem(`found ${more.length + 1} files, expected one at a time`, toLabel);
    try {
      if (await isModel(file)) takers.model(file);
      else if (toLabel) takers.texts(file);
      else takers.data(file);
    } catch {
      takers.problem(`${file.name}: found something that cannot be read, expected a file`, toLabel);
    }
  };
  for (const id of ["file", "texts"]) {
    const input = byId(id, HTMLInputElement);
    input.addEventListener("change", () => {
      void take(input.files, id === "texts");
      // So that choosing the same file again, once mended, is a change too.
      input.value = "";
    });
  }
  // Anywhere on the page: a file that misses the box must not open in place of the page.
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) drop.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    drop.classList.remove("over");
    const toLabel = event.target instanceof Element && event.target.closest("#label") !== null;
    void take(event.dataTransfer?.files, toLabel);
  });
}
