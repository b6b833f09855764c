// A whole file labelled to CSV: chosen or dropped, with progress, and a way to cancel.

import type { PredictorReply, PredictorRequest } from "../worker/messages.ts";
import { offerColumns } from "./columns.ts";
import { byId, say, show } from "./dom.ts";
import { download, stemOf } from "./download.ts";
import { readLabelSettings } from "./settings.ts";
import { several } from "./words.ts";

type LabelReply = Extract<PredictorReply, { kind: "labelling" | "labelled" | "unlabelled" }>;

export class Labelling {
  readonly #input = byId("texts", HTMLInputElement);
  readonly #cancel = byId("cancel", HTMLButtonElement);
  readonly #progress = byId("labelled-part", HTMLProgressElement);
  readonly #words = byId("labelled", HTMLElement);
  readonly #send: (request: PredictorRequest) => void;
  #file: File | undefined;
  #remarks: readonly string[] = [];

  constructor(send: (request: PredictorRequest) => void) {
    this.#send = send;
    this.#cancel.addEventListener("click", () => send({ kind: "cancel" }));
  }

  complain(message: string): void {
    show(byId("label-problem", HTMLElement), message);
  }

  /** `remarks`: what was left out of notes, which have no columns. */
  start(file: File, remarks?: readonly string[]): void {
    this.#file = file;
    this.#remarks = remarks ?? [];
    this.complain("");
    this.#work(true);
    this.#progress.value = 0;
    say(this.#words, `Labelling ${file.name}`);
    const { lenient, ...columns } = readLabelSettings();
    this.#send({ kind: "label", source: file, settings: remarks ? { lenient } : { lenient, ...columns } });
  }

  hear(reply: LabelReply): void {
    const file = this.#file;
    if (file === undefined) return;
    if (reply.kind === "labelling") this.#progress.value = reply.part;
    else if (reply.kind === "labelled") {
      const name = `${stemOf(file.name)}-labels.csv`;
      this.#work(false);
      const notes = [...this.#remarks, ...reply.notes].map((note) => ` ${note}.`).join("");
      say(this.#words, `${several(reply.rows, "row")} of ${file.name} labelled: ${name}.${notes}`);
      download({ name, content: reply.csv });
    } else {
      this.#work(false);
      say(this.#words, reply.message === undefined ? "Cancelled." : "");
      if (reply.message !== undefined) this.complain(reply.message);
      if (reply.columns) offerColumns(byId("label-columns", HTMLElement), reply.columns, () => this.start(file));
    }
  }

  #work(works: boolean): void {
    // A button that goes away hands the focus on.
    if (!works && document.activeElement === this.#cancel) this.#input.focus();
    this.#cancel.hidden = !works;
    this.#progress.hidden = !works;
  }
}
