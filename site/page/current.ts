// The model in use as a file: saved whole or compact, kept in the browser, offered again after a reload.

import { byId, say, show } from "./dom.ts";
import { download, type NamedFile } from "./download.ts";
import { forgetModel, type KeptModel, keepModel, keptModel } from "./keeping.ts";
import { size } from "./words.ts";

export interface CurrentActions {
  /** Uses a model that was kept. */
  open(file: NamedFile): void;
  /** Wants the compact form of the model in use. */
  compact(): void;
}

/** The lines that use a saved file. */
export const programFor = (name: string, compact: boolean): string =>
  compact
    ? `// tag.mjs
import { readFile } from "node:fs/promises";
import { load } from "mlgpf/edge";

const tagger = await load(await readFile(${JSON.stringify(name)}));
const labels = tagger.predict("a text of yours", { topK: 3 });
for (const { label, probability } of labels)
  console.log(label, probability.toFixed(2));
`
    : `// tag.mjs
import { loadModel } from "mlgpf";

const tagger = await loadModel(${JSON.stringify(name)});
const labels = await tagger.predict("a text of yours", { topK: 3 });
for (const { label, probability } of labels)
  console.log(label, probability.toFixed(2));
tagger.dispose();
`;

function showProgram(name: string, compact: boolean): void {
  say(byId("program", HTMLElement), programFor(name, compact));
  byId("use", HTMLElement).hidden = false;
}

export class CurrentModel {
  readonly #save = byId("save", HTMLButtonElement);
  readonly #saveCompact = byId("save-compact", HTMLButtonElement);
  readonly #openKept = byId("open-kept", HTMLButtonElement);
  readonly #forget = byId("forget", HTMLButtonElement);
  readonly #words = byId("kept", HTMLElement);
  #file: NamedFile | undefined;
  #compact = false;
  #kept: KeptModel | undefined;
  /** Keeping one model ends before the next is kept. */
  #keeping: Promise<void> = Promise.resolve();

  constructor({ open, compact }: CurrentActions) {
    this.#save.addEventListener("click", () => {
      if (!this.#file) return;
      download(this.#file);
      showProgram(this.#file.name, this.#compact);
    });
    this.#saveCompact.addEventListener("click", () => {
      say(byId("saved", HTMLElement), "Making the compact model");
      compact();
    });
    this.#openKept.addEventListener("click", () => this.#kept && open(this.#kept));
    this.#forget.addEventListener("click", () => {
      this.#keeping = this.#keeping.then(() => this.#throwAway());
    });
    this.#keeping = this.#offer();
  }

  /** The model in use from now on. */
  set(file: NamedFile, compact: boolean): void {
    this.#file = file;
    this.#compact = compact;
    if (document.activeElement === this.#openKept) byId("text", HTMLTextAreaElement).focus();
    this.#openKept.hidden = true;
    this.#save.hidden = false;
    this.#saveCompact.hidden = compact;
    say(byId("saved", HTMLElement), "");
    this.#keeping = this.#keeping.then(() => this.#keep(file));
  }

  /** The same with other bytes, once it has learned. */
  replace(content: Blob): void {
    if (this.#file) this.set({ ...this.#file, content }, false);
  }

  saveCompact(bytes: Uint8Array<ArrayBuffer>): void {
    const name = "tagger.bin";
    say(byId("saved", HTMLElement), `The compact model ${name} has ${size(bytes.length)}.`);
    download({ name, content: new Blob([bytes]) });
    showProgram(name, true);
  }

  async #offer(): Promise<void> {
    this.#kept = await keptModel();
    // One that was trained or opened meanwhile takes its place.
    if (this.#kept === undefined || this.#file !== undefined) return;
    const { name, content, when } = this.#kept;
    const day = new Date(when).toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" });
    show(this.#words, `The model ${name} of ${day} (${size(content.size)}) is kept in this browser.`);
    this.#openKept.hidden = false;
    this.#forget.hidden = false;
  }

  async #keep(file: NamedFile): Promise<void> {
    const kept = await keepModel(file);
    if (this.#file !== file) return;
    this.#forget.hidden = !kept;
    show(
      this.#words,
      kept
        ? "It is kept in this browser: a reload offers it again."
        : "It is too large to be kept in this browser, or the browser keeps nothing: save it.",
    );
  }

  async #throwAway(): Promise<void> {
    await forgetModel();
    this.#kept = undefined;
    if (document.activeElement === this.#forget) byId("text", HTMLTextAreaElement).focus();
    this.#openKept.hidden = true;
    this.#forget.hidden = true;
    show(this.#words, "Nothing is kept in this browser any more.");
  }
}
