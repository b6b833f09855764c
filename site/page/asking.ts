// The asking part of the page: a text goes to the worker that predicts as it is typed, labels come back as bars.

import type { LearningState } from "../../src/closed/state.ts";
import type { Answer, Change, ModelInfo, PredictorReply, PredictorRequest } from "../worker/messages.ts";
import { CurrentModel } from "./current.ts";
import { byId, make, say } from "./dom.ts";
import type { NamedFile } from "./download.ts";
import { Labelling } from "./labelling.ts";
import { percent, several } from "./words.ts";

/** What to type for each kind of model. */
const LABELS: Record<ModelInfo["input"], string> = {
  text: "A text to label",
  names: "Features to label, as name:value, parted by commas",
  numbers: "Features to label, as number:value, parted by blanks",
};
/** A screen reader hears the answer once the typing rests. */
const REST_MILLISECONDS = 900;

export class Asking {
  readonly #text = byId("text", HTMLTextAreaElement);
  readonly #answers = byId("answers", HTMLElement);
  readonly #worker: Worker;
  readonly #onRefused: (message: string) => void;
  readonly #current: CurrentModel;
  readonly #labelling: Labelling;
  readonly #correct = byId("correct", HTMLFormElement);
  readonly #rightLabels = byId("right-labels", HTMLInputElement);
  readonly #learned = byId("learned", HTMLElement);
  #model: ModelInfo | undefined;
  /** Models on their way to the worker, in its order. */
  readonly #opening: NamedFile[] = [];
  /** Questions are numbered; only the newest one's answer is shown, and one is on its way at a time. */
  #asked = 0;
  #waiting = false;
  #changed = false;
  #resting: ReturnType<typeof setTimeout> | undefined;

  constructor(onRefused: (message: string) => void) {
    this.#onRefused = onRefused;
    const send = (request: PredictorRequest): void => this.#send(request);
    this.#labelling = new Labelling(send, onRefused);
    this.#current = new CurrentModel({
      open: (file) => this.load(file),
      compact: () => send({ kind: "compact" }),
    });
    this.#worker = new Worker(new URL("./predict.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }: MessageEvent<PredictorReply>) => this.#hear(data);
    this.#worker.onerror = (event) =>
      onRefused(event.message || "the worker that predicts could not be started");
    this.#text.addEventListener("input", () => {
      say(this.#learned, "");
      this.#ask();
    });
    this.#correct.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#learn();
    });
  }

  load(file: NamedFile, state?: LearningState): void {
    this.#onRefused("");
    say(byId("model", HTMLElement), `Opening ${file.name}`);
    this.#opening.push(file);
    this.#send({ kind: "load", file: file.name, source: file.content, state });
  }

  label(file: File): void {
    if (this.#model) this.#labelling.start(file);
  }

  /** The typed text with its right labels goes into the model. */
  #learn(): void {
    const labels = [...new Set(this.#rightLabels.value.split(",").map((label) => label.trim()))].filter(
      Boolean,
    );
    const text = this.#text.value.trim();
    if (text === "" || labels.length === 0) {
      say(this.#learned, "Type a text above and its right labels here.");
      return;
    }
    say(this.#learned, "Learning");
    this.#send({ kind: "learn", text, labels });
  }

  #send(request: PredictorRequest): void {
    this.#worker.postMessage(request);
  }

  #ask(): void {
    if (this.#model === undefined) return;
    this.#changed = true;
    if (this.#waiting) return;
    this.#waiting = true;
    this.#changed = false;
    this.#send({ kind: "predict", number: ++this.#asked, text: this.#text.value });
  }

  #hear(reply: PredictorReply): void {
    if (reply.kind === "loaded") {
      this.#welcome(reply.info);
      this.#current.set(this.#opening.shift() as NamedFile, reply.info.compact);
    } else if (reply.kind === "learned") {
      this.#current.replace(new Blob([reply.bytes]));
      this.#welcome(reply.info);
      say(this.#learned, `Learned. ${reply.changes.map(inWords).join(", ")}.`);
    } else if (reply.kind === "refused") {
      this.#opening.shift();
      this.#onRefused(reply.message);
      this.#introduce();
    } else if (reply.kind === "compacted") this.#current.saveCompact(reply.bytes);
    else if (reply.kind === "predicted" || reply.kind === "failed") this.#hearAnswer(reply);
    else this.#labelling.hear(reply);
  }

  #hearAnswer(reply: Extract<PredictorReply, { kind: "predicted" | "failed" }>): void {
    this.#waiting = false;
    if (this.#changed) this.#ask();
    if (reply.kind === "failed") {
      say(this.#learned, "");
      this.#onRefused(reply.message);
    } else this.#show(reply.answers, reply.known, reply.unknown);
  }

  #welcome(info: ModelInfo): void {
    // Where the text in the box cannot be read by this model, an example takes its place.
    if ((this.#model?.input ?? "text") !== info.input) this.#text.value = info.example;
    this.#model = info;
    this.#correct.hidden = !info.learns;
    byId("label", HTMLElement).hidden = false;
    say(byId("text-label", HTMLElement), LABELS[info.input]);
    this.#introduce();
    this.#ask();
  }

  #introduce(): void {
    const { file, labels, features, points } = this.#model ?? {};
    const words =
      file === undefined
        ? "There is no model yet: train one above, or drop in one that was saved."
        : `The model is ${file}: ${several(labels ?? 0, "label")} from ${several(features ?? 0, "feature")}` +
          (points ? `, learned from ${several(points, "point")}.` : ".");
    say(byId("model", HTMLElement), words);
  }

  #show(answers: readonly Answer[], known: number, unknown: readonly string[]): void {
    const empty = this.#text.value.trim() === "";
    const shown = empty ? [] : answers;
    this.#answers.replaceChildren(...shown.map(item));
    byId("legend", HTMLElement).hidden = shown.length === 0;
    const kind = this.#model?.input === "text" ? "word" : "feature";
    const parts = [];
    if (known === 0 && !empty)
      parts.push(`The model knows no ${kind} of this: what it says is how common labels are.`);
    if (unknown.length > 0) parts.push(`Not known to the model: ${unknown.slice(0, 12).join(", ")}.`);
    say(byId("unknown", HTMLElement), parts.join(" "));
    clearTimeout(this.#resting);
    const best = shown.slice(0, 3).map(({ label, probability }) => `${label} ${percent(probability)}`);
    this.#resting = setTimeout(
      () => say(byId("answer-status", HTMLElement), best.length > 0 ? `Most likely: ${best.join(", ")}` : ""),
      REST_MILLISECONDS,
    );
  }
}

/** physics: 12.1 % before, 64.0 % now */
const inWords = ({ label, before, after }: Change): string =>
  `${label}: ${percent(before)} before, ${percent(after)} now`;

/** A label: its name and probability, a bar with a band, the words that speak for it. */
function item({ label, probability, low, high, words }: Answer): HTMLLIElement {
  const bar = make("div", "bar");
  bar.style.width = `${100 * probability}%`;
  const band = make("div", "band");
  band.style.left = `${100 * low}%`;
  band.style.width = `${100 * (high - low)}%`;
  const track = make("div", "track", bar, band);
  track.setAttribute("aria-hidden", "true");
  const chance = make("span", "chance", `${percent(probability)} `);
  if (low < high) chance.append(make("span", "range", `(${percent(low)} to ${percent(high)})`));
  const head = make("div", "head", make("span", "name", label), chance);
  const reasons = words.map(({ word }) => word).join(", ");
  return make(
    "li",
    "",
    head,
    track,
    ...(reasons === "" ? [] : [make("div", "words", `because of: ${reasons}`)]),
  );
}
