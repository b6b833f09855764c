// The training part of the page: buttons, status, figures and plots around the worker that trains.

import type { StepProgress, TrainProgress } from "../../src/parts/progress.ts";
import type { LearningState } from "../../src/parts/regression/state.ts";
import { ClosedProgress } from "../../src/report/progress.ts";
import type { DataSummary, HeldOut, TrainerReply, TrainerRequest, TrainSettings } from "../worker/messages.ts";
import { offerColumns } from "./columns.ts";
import type { Curves } from "./curves.ts";
import { byId, make, say, show } from "./dom.ts";
import { type NamedFile, stemOf } from "./download.ts";
import { count, duration, percent, several } from "./words.ts";

type State = "idle" | "reading" | "running" | "pausing" | "paused" | "stopping";

const WORKING: readonly State[] = ["running", "pausing", "stopping"];

/** A new model's state, where it can go on learning, and its measures on held-out rows. */
export interface TrainedAbout {
  state: LearningState | undefined;
  held: HeldOut | undefined;
}

export class Training {
  readonly #status = byId("status", HTMLElement);
  readonly #problem = byId("problem", HTMLElement);
  readonly #progress = byId("progress", HTMLProgressElement);
  readonly #sample = byId("train-sample", HTMLButtonElement);
  readonly #pause = byId("pause", HTMLButtonElement);
  readonly #stop = byId("stop", HTMLButtonElement);
  readonly #onTrained: (file: NamedFile, about: TrainedAbout) => void;
  readonly #onChosen: (source: "sample" | File) => void;
  #source: "sample" | File = "sample";
  #state: State = "idle";
  #worker: Worker | undefined;
  #curves: Curves | undefined;
  /** The plots' code, fetched when a training begins: the first screen does without. */
  #plots: typeof import("./curves.ts") | undefined;
  #name = "model";
  #points = 0;
  /** Milliseconds of work so far, and when the present stretch began. */
  #worked = 0;
  #since = 0;
  #last: StepProgress | undefined;
  #closed = new ClosedProgress();

  /** `onChosen` is told the file whose columns were chosen, after it could not be read without. */
  constructor(onTrained: (file: NamedFile, about: TrainedAbout) => void, onChosen: (source: "sample" | File) => void) {
    this.#onTrained = onTrained;
    this.#onChosen = onChosen;
    this.#pause.addEventListener("click", () => {
      if (this.#state === "paused") this.#resume();
      else if (this.#state === "running" && this.#last !== undefined) this.#hold();
    });
    this.#stop.addEventListener("click", () => this.#halt());
  }

  get busy(): boolean {
    return this.#state !== "idle";
  }

  complain(message: string): void {
    show(this.#problem, message);
  }

  start(source: "sample" | File, settings: TrainSettings, remarks: readonly string[] = []): void {
    this.#source = source;
    this.#name = source === "sample" ? "sample" : stemOf(source.name);
    this.complain("");
    this.#clear();
    for (const text of remarks) this.#note(text);
    this.#worker = this.#open();
    void import("./curves.ts").then((plots) => {
      this.#plots = plots;
    });
    this.#send({ kind: "train", source, settings });
    this.#enter("reading");
    say(this.#status, `Reading ${source === "sample" ? "the sample" : source.name}`);
  }

  #open(): Worker {
    const worker = new Worker(new URL("./train.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<TrainerReply>) => this.#hear(data);
    worker.onerror = (event) => this.#fail(event.message || "the worker that trains could not be started");
    return worker;
  }

  #send(request: TrainerRequest): void {
    this.#worker?.postMessage(request);
  }

  #enter(state: State): void {
    const wasWorking = WORKING.includes(this.#state);
    const works = WORKING.includes(state);
    if (works && !wasWorking) this.#since = performance.now();
    if (wasWorking && !works) this.#worked += performance.now() - this.#since;
    this.#state = state;
    disable(this.#sample, state !== "idle");
    // Only a training in steps can be paused.
    disable(this.#pause, state !== "paused" && !(state === "running" && this.#last !== undefined));
    // A button that goes away hands the focus on.
    if (state === "idle" && [this.#pause, this.#stop].some((button) => button === document.activeElement))
      this.#sample.focus();
    this.#pause.hidden = state === "idle";
    this.#stop.hidden = state === "idle";
    say(this.#pause, state === "paused" ? "Resume" : "Pause");
  }

  #clear(): void {
    this.#curves?.destroy();
    this.#curves = undefined;
    this.#last = undefined;
    this.#closed = new ClosedProgress();
    this.#worked = 0;
    this.#progress.value = 0;
    byId("figures", HTMLElement).replaceChildren();
    byId("notes", HTMLElement).replaceChildren();
    byId("train-columns", HTMLElement).replaceChildren();
    this.#showWrong(undefined);
    say(byId("data", HTMLElement), "");
    byId("run", HTMLElement).hidden = false;
  }

  #hear(reply: TrainerReply): void {
    if (reply.kind === "reading") this.#progress.value = reply.total > 0 ? reply.bytes / reply.total : 0;
    else if (reply.kind === "data") this.#describe(reply.summary);
    else if (reply.kind === "progress") this.#report(reply.progress);
    else if (reply.kind === "paused") this.#rest();
    else if (reply.kind === "trained") this.#finish(reply);
    else {
      this.#fail(reply.message);
      if (reply.columns)
        offerColumns(byId("train-columns", HTMLElement), reply.columns, () => this.#onChosen(this.#source));
    }
  }

  #describe(summary: DataSummary): void {
    const { file, format, points, heldPoints, features, labels, skipped, notes } = summary;
    const held = heldPoints > 0 ? `${count(heldPoints)} held out to measure on, ` : "";
    say(
      byId("data", HTMLElement),
      `${file} (${format}): ${several(points, "row")} to learn from, ${held}` +
        `${several(features, "feature")}, ${several(labels, "label")}.`,
    );
    const more = skipped > 0 ? [`${several(skipped, "broken line")} skipped`, ...notes] : notes;
    for (const text of more) this.#note(text);
    this.#points = points;
    this.#progress.value = 0;
    this.#enter("running");
    say(this.#status, "Getting ready");
  }

  /** Each note once: a training that was paused says them again. */
  #note(text: string): void {
    const list = byId("notes", HTMLElement);
    const known = [...list.children].some((item) => item.textContent === text);
    if (!known) list.append(make("li", "", text));
  }

  #report(progress: TrainProgress): void {
    if (progress.stage === "note") {
      this.#closed.chosen();
      this.#note(progress.text);
    } else if (progress.stage === "training") this.#reportStep(progress);
    else {
      this.#closed.at(progress.stage, progress.fraction);
      if (this.#last === undefined) this.#progress.value = this.#closed.fraction;
      const seconds = (performance.now() - this.#since) / 1000;
      if (this.#state === "running") say(this.#status, `Training: ${this.#closed.words(seconds)}`);
    }
  }

  #reportStep(progress: StepProgress): void {
    if (this.#state === "running") say(this.#status, "Training");
    this.#last = progress;
    if (this.#state === "running") disable(this.#pause, false);
    this.#progress.value = progress.step / progress.steps;
    if (this.#plots) this.#curves ??= new this.#plots.Curves(byId("curves", HTMLElement), this.#points, progress.steps);
    this.#curves?.add(progress);
    this.#show(progress);
  }

  #show({ step, steps, epoch, pointsPerSecond, secondsLeft, validation }: StepProgress): void {
    const rows: [string, string][] = [
      ["Step", `${count(step)} of ${count(steps)}`],
      ["Passes", epoch.toFixed(1)],
      ["Rows a second", count(pointsPerSecond)],
      ["Time left", step === steps ? "0 s" : duration(secondsLeft)],
    ];
    for (const name of ["P@1", "P@3", "P@5"]) {
      const value = validation?.[name];
      if (value !== undefined) rows.push([`${name} held out`, `${value.toFixed(1)} %`]);
    }
    byId("figures", HTMLElement).replaceChildren(
      ...rows.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))),
    );
  }

  #hold(): void {
    this.#enter("pausing");
    this.#send({ kind: "pause" });
    say(this.#status, "Pausing");
  }

  #rest(): void {
    // Stop may have been pressed since: then it goes on to the model.
    if (this.#state !== "pausing") return;
    this.#enter("paused");
    say(this.#status, "Paused. Resume goes on as if nothing had happened.");
  }

  #resume(): void {
    this.complain("");
    this.#enter("running");
    this.#send({ kind: "resume" });
    say(this.#status, "Getting ready to go on");
  }

  /** Ends a training in steps with the model it has; the second time, and any other training, at once. */
  #halt(): void {
    if (this.#last === undefined) this.#end("Stopped. Nothing was learned yet.");
    else if (this.#state === "stopping") this.#end("Stopped. Nothing is kept.");
    else {
      this.#enter("stopping");
      this.#send({ kind: "finish" });
      say(this.#status, "Stopping: what was learned is made into a model");
    }
  }

  /** The surest mistakes on held-out texts. */
  #showWrong(held: HeldOut | undefined): void {
    const wrong = held?.wrong ?? [];
    byId("wrong", HTMLElement).hidden = wrong.length === 0;
    byId("wrong-texts", HTMLElement).replaceChildren(
      ...wrong.map(({ text, said, probability, truth }) =>
        make(
          "li",
          "",
          make("q", "", text.length > 160 ? `${text.slice(0, 160)}…` : text),
          make(
            "span",
            "hint",
            ` predicted ${said} (${percent(probability)}), labelled ${truth.join(", ") || "nothing"}`,
          ),
        ),
      ),
    );
  }

  #finish({ bytes, state, precision, held }: Extract<TrainerReply, { kind: "trained" }>): void {
    const right =
      precision === undefined ? "" : ` The top label is right for ${precision.toFixed(1)} % of held-out rows.`;
    const stopped = this.#state === "stopping";
    this.#end("");
    const how = stopped ? `Stopped at step ${count(this.#last?.step ?? 0)}, and what was learned is kept.` : "";
    say(this.#status, `${how || `Trained in ${duration(this.#worked / 1000)}.`}${right}`);
    this.#showWrong(held);
    this.#onTrained({ name: `${this.#name}.safetensors`, content: new Blob([bytes]) }, { state, held });
  }

  #fail(message: string): void {
    this.#end("");
    this.complain(message);
    if (this.#last === undefined) byId("run", HTMLElement).hidden = true;
  }

  /** Ends the worker, and with it whatever it was at. */
  #end(words: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.complain("");
    this.#enter("idle");
    say(this.#status, words);
  }
}

/** A button that would do nothing now. It keeps the focus, which a disabled one loses. */
function disable(button: HTMLButtonElement, off: boolean): void {
  button.setAttribute("aria-disabled", String(off));
}
