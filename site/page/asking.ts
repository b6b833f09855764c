// A text, its labels and what they are worth: a worker that predicts answers what is typed with bars, the words behind the labels are marked in
// the text, a threshold says which labels count, and lessons go into the model. The page has two of these: the tagger that it comes
// with (ids that begin with demo-), and the model of one's own.

import type { LearningState } from "../../src/parts/regression/state.ts";
import type { Answer, Change, HeldOut, ModelInfo, PredictorReply, PredictorRequest } from "../worker/messages.ts";
import { byId, make, say, show } from "./dom.ts";
import type { NamedFile } from "./download.ts";
import { showMarks } from "./marks.ts";
import { sureWords } from "./sure.ts";
import { percent, several } from "./words.ts";

/** The hint in the text box, for each kind of model. */
const LABELS: Record<ModelInfo["input"], string> = {
  text: "A text to label",
  names: "Features to label, as name:value, separated by commas",
  numbers: "Features to label, as number:value, separated by blanks",
};
/** Labels that are shown: the first screen has room for fewer. */
const MOST_SHOWN = { "demo-": 5, "": 8 };
/** Reasons for a label that is all but ruled out are noise. */
const LEAST_EXPLAINED = 0.01;
/** A screen reader hears the answer once the typing rests. */
const REST_MILLISECONDS = 900;

/** Replies that are not about a single text. */
export type OtherReply = Extract<PredictorReply, { kind: "compacted" | "labelling" | "labelled" | "unlabelled" }>;

export interface AskingHooks {
  /** A model is in use. */
  onLoaded?(file: NamedFile, info: ModelInfo): void;
  onLearned?(bytes: Uint8Array<ArrayBuffer>): void;
  /** A model could not be opened; an empty message takes the last one away. */
  onRefused(message: string): void;
  onOther?(reply: OtherReply): void;
  /** A sentence on the model in use. */
  describe(info: ModelInfo | undefined): string;
}

export class Asking {
  readonly #prefix: "" | "demo-";
  readonly #hooks: AskingHooks;
  readonly #worker: Worker;
  readonly #text: HTMLTextAreaElement;
  readonly #answers: HTMLElement;
  readonly #sure: HTMLInputElement;
  readonly #rightLabels: HTMLInputElement;
  readonly #learned: HTMLElement;
  #model: ModelInfo | undefined;
  #held: HeldOut | undefined;
  #shown: readonly Answer[] = [];
  /** The right labels were typed or ticked, and are not to be guessed. */
  #corrected = false;
  /** Models on their way to the worker, in its order. */
  readonly #opening: { file: NamedFile; held: HeldOut | undefined }[] = [];
  /** Questions are numbered; only the newest one's answer is shown, and one is on its way at a time. */
  #asked = 0;
  #waiting = false;
  #changed = false;
  #resting: ReturnType<typeof setTimeout> | undefined;

  constructor(prefix: "" | "demo-", hooks: AskingHooks) {
    this.#prefix = prefix;
    this.#hooks = hooks;
    this.#text = byId(`${prefix}text`, HTMLTextAreaElement);
    this.#answers = this.#part("answers");
    this.#sure = byId(`${prefix}sure`, HTMLInputElement);
    this.#rightLabels = byId(`${prefix}right-labels`, HTMLInputElement);
    this.#learned = this.#part("learned");
    this.#worker = new Worker(new URL("./predict.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }: MessageEvent<PredictorReply>) => this.#hear(data);
    this.#worker.onerror = (event) => hooks.onRefused(event.message || "the worker that predicts could not be started");
    this.#text.addEventListener("input", () => {
      this.#corrected = false;
      say(this.#learned, "");
      showMarks(this.#part("marks"), this.#text.value, []);
      this.#ask();
    });
    this.#sure.addEventListener("input", () => this.#draw());
    this.#rightLabels.addEventListener("input", () => {
      this.#corrected = true;
    });
    byId(`${prefix}correct`, HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#learn();
    });
    showMarks(this.#part("marks"), this.#text.value, []);
    this.#saySure();
  }

  get text(): string {
    return this.#text.value;
  }

  /** Puts a text into the box. */
  set text(text: string) {
    this.#text.value = text;
    this.#text.dispatchEvent(new Event("input"));
  }

  get model(): ModelInfo | undefined {
    return this.#model;
  }

  load(file: NamedFile, { state, held }: { state?: LearningState | undefined; held?: HeldOut | undefined } = {}): void {
    this.#hooks.onRefused("");
    say(this.#part("model"), `Opening ${file.name}`);
    this.#opening.push({ file, held });
    this.send({ kind: "load", file: file.name, source: file.content, state });
  }

  send(request: PredictorRequest): void {
    this.#worker.postMessage(request);
  }

  #part(id: string): HTMLElement {
    return byId(`${this.#prefix}${id}`, HTMLElement);
  }

  get #threshold(): number {
    return this.#sure.valueAsNumber / 100;
  }

  /** The typed text with its right labels goes into the model; without a label the lesson is that none fits. */
  #learn(): void {
    const labels = this.#typedLabels();
    const text = this.#text.value.trim();
    if (text === "") {
      say(this.#learned, "Type a text first.");
      return;
    }
    say(this.#learned, "Learning");
    this.send({ kind: "learn", text, labels });
  }

  #typedLabels(): string[] {
    return [...new Set(this.#rightLabels.value.split(",").map((label) => label.trim()))].filter(Boolean);
  }

  /** A label that was ticked or crossed. */
  #judge(label: string, right: boolean): void {
    const others = this.#typedLabels().filter((each) => each !== label);
    this.#rightLabels.value = (right ? [...others, label] : others).join(", ");
    this.#corrected = true;
    this.#showJudged();
  }

  #showJudged(): void {
    const right = new Set(this.#typedLabels());
    for (const button of this.#answers.querySelectorAll<HTMLButtonElement>("button")) {
      const isRight = right.has(button.dataset.label ?? "");
      const pressed = this.#corrected && (button.className === "tick" ? isRight : !isRight);
      button.setAttribute("aria-pressed", String(pressed));
    }
  }

  #ask(): void {
    if (this.#model === undefined) return;
    this.#changed = true;
    if (this.#waiting) return;
    this.#waiting = true;
    this.#changed = false;
    this.send({ kind: "predict", number: ++this.#asked, text: this.#text.value });
  }

  #hear(reply: PredictorReply): void {
    if (reply.kind === "loaded") {
      const opened = this.#opening.shift();
      this.#held = opened?.held;
      this.#welcome(reply.info);
      if (opened) this.#hooks.onLoaded?.(opened.file, reply.info);
    } else if (reply.kind === "learned") {
      this.#corrected = false;
      this.#welcome(reply.info);
      say(this.#learned, `Learned. ${reply.changes.map(inWords).join(", ")}.`);
      this.#hooks.onLearned?.(reply.bytes);
    } else if (reply.kind === "teachable") this.#welcome({ ...(this.#model as ModelInfo), learns: true });
    else if (reply.kind === "refused") {
      this.#opening.shift();
      this.#hooks.onRefused(reply.message);
      this.#introduce();
    } else if (reply.kind === "predicted" || reply.kind === "failed") this.#hearAnswer(reply);
    else this.#hooks.onOther?.(reply);
  }

  #hearAnswer(reply: Extract<PredictorReply, { kind: "predicted" | "failed" }>): void {
    this.#waiting = false;
    if (this.#changed) this.#ask();
    const problem = this.#part(this.#prefix === "" ? "ask-problem" : "problem");
    show(problem, reply.kind === "failed" ? reply.message : "");
    if (reply.kind === "failed") say(this.#learned, "");
    else this.#show(reply.answers, reply.known, reply.unknown);
  }

  #welcome(info: ModelInfo): void {
    // Where the text in the box cannot be read by this model, an example takes its place.
    if ((this.#model?.input ?? "text") !== info.input) this.#text.value = info.example;
    this.#model = info;
    this.#part("correct").hidden = !info.learns;
    say(this.#part("text-label"), LABELS[info.input]);
    this.#introduce();
    this.#saySure();
    this.#ask();
  }

  #introduce(): void {
    say(this.#part("model"), this.#hooks.describe(this.#model));
  }

  #saySure(): void {
    const value = this.#sure.valueAsNumber;
    say(this.#part("sure-value"), `${value} %`);
    say(this.#part("sure-words"), sureWords(value, this.#held, this.#model?.guarantees));
  }

  #show(answers: readonly Answer[], known: number, unknown: readonly string[]): void {
    const empty = this.#text.value.trim() === "";
    this.#shown = empty ? [] : answers.slice(0, MOST_SHOWN[this.#prefix]);
    this.#draw();
    const kind = this.#model?.input === "text" ? "word" : "feature";
    const parts = [];
    if (known === 0 && !empty) parts.push(`The model knows no ${kind} of this: what it says is how common labels are.`);
    if (unknown.length > 0) parts.push(`Not known to the model: ${unknown.slice(0, 12).join(", ")}.`);
    say(this.#part("unknown"), parts.join(" "));
    clearTimeout(this.#resting);
    const best = this.#shown.slice(0, 3).map(({ label, probability }) => `${label} ${percent(probability)}`);
    this.#resting = setTimeout(
      () => say(this.#part("answer-status"), best.length > 0 ? `Most likely: ${best.join(", ")}` : ""),
      REST_MILLISECONDS,
    );
  }

  /** The labels with their bars, those below the threshold paler, and the words behind the others. */
  #draw(): void {
    this.#saySure();
    const kept = this.#shown.filter(({ probability }) => probability >= this.#threshold);
    const mark = (labels: readonly Answer[]): void =>
      showMarks(
        this.#part("marks"),
        this.#text.value,
        labels.flatMap(({ words }) => words.map(({ word }) => word)),
      );
    const items = this.#shown.map((answer) => {
      const item = this.#item(answer, kept.includes(answer));
      item.addEventListener("pointerenter", () => mark([answer]));
      item.addEventListener("pointerleave", () => mark(kept));
      return item;
    });
    this.#answers.replaceChildren(...items);
    mark(kept);
    if (!this.#corrected) this.#rightLabels.value = kept.map(({ label }) => label).join(", ");
    this.#showJudged();
  }

  /** A label: its name and probability, a bar, the words that speak for it, and where it can be taught a tick and a cross. */
  #item(answer: Answer, kept: boolean): HTMLLIElement {
    const { label, probability, words } = answer;
    const bar = make("div", "bar");
    bar.style.width = `${100 * probability}%`;
    const track = make("div", "track", bar);
    track.setAttribute("aria-hidden", "true");
    const judges = this.#model?.learns ? [this.#judgeButton(label, true), this.#judgeButton(label, false)] : [];
    const head = make(
      "div",
      "head",
      make("span", "name", label),
      make("span", "chance", percent(probability)),
      ...judges,
    );
    const reasons = [...new Set(words.map(({ word }) => word))].join(", ");
    const because =
      reasons === "" || probability < LEAST_EXPLAINED ? [] : [make("div", "words", `because of: ${reasons}`)];
    return make("li", kept ? "kept" : "below", head, track, ...because);
  }

  #judgeButton(label: string, right: boolean): HTMLButtonElement {
    const button = make("button", right ? "tick" : "cross", right ? "✓" : "✗");
    button.type = "button";
    button.dataset.label = label;
    button.setAttribute("aria-label", right ? `${label} is right` : `${label} is wrong`);
    button.addEventListener("click", () => this.#judge(label, right));
    return button;
  }
}

/** A sentence on a model that was opened or trained. */
export const aboutModel = ({ file, labels, features, points }: ModelInfo): string =>
  `The model is ${file}: ${several(labels, "label")} from ${several(features, "feature")}` +
  (points ? `, trained on ${several(points, "row")}.` : ".");

/** physics: 12.1 % before, 64.0 % now */
const inWords = ({ label, before, after }: Change): string =>
  `${label}: ${percent(before)} before, ${percent(after)} now`;
