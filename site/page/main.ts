// The page: the tagger of the first screen, and the buttons and files of a training of one's own with its two workers.

import { Asking, aboutModel } from "./asking.ts";
import { CurrentModel } from "./current.ts";
import { startDemo } from "./demo.ts";
import { byId } from "./dom.ts";
import { listenForFiles } from "./files.ts";
import { Labelling } from "./labelling.ts";
import { describeMachine } from "./machine.ts";
import type { NotesFile } from "./notes.ts";
import { readSettings } from "./settings.ts";
import { Training } from "./training.ts";

const training = new Training((file, about) => asking.load(file, about), train);
const current = new CurrentModel({
  open: (file) => asking.load(file),
  compact: () => asking.send({ kind: "compact" }),
});
const asking = new Asking("", {
  onLoaded(file, { compact }) {
    byId("try", HTMLElement).hidden = false;
    current.set(file, compact);
  },
  onLearned: (bytes) => current.replace(new Blob([bytes])),
  onRefused: (message) => training.complain(message),
  onOther(reply) {
    if (reply.kind === "compacted") current.saveCompact(reply.bytes);
    else labelling.hear(reply);
  },
  describe: (info) => (info ? aboutModel(info) : "There is no model yet: train one, or drop in one that was saved."),
});
const labelling = new Labelling((request) => asking.send(request));

function train(source: "sample" | File, { remarks }: Partial<NotesFile> = {}): void {
  try {
    if (training.busy) throw new Error("A training is under way: stop it before you start another.");
    const { textName, labelsName, oneHot, ...others } = readSettings();
    // Notes have no columns.
    const columns = remarks ? {} : { textName, labelsName, oneHot };
    training.start(source, { ...others, ...columns }, remarks);
  } catch (error) {
    training.complain((error as Error).message);
  }
}

byId("train-sample", HTMLButtonElement).addEventListener("click", () => train("sample"));
byId("settings", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
listenForFiles({
  data: train,
  texts: (file) => asking.model && labelling.start(file),
  notes(notes, toLabel) {
    if (!toLabel) train(notes.file, notes);
    else if (asking.model) labelling.start(notes.file, notes.remarks);
  },
  model: (file) => asking.load({ name: file.name, content: file }),
  problem: (message, toLabel) => (toLabel ? labelling.complain(message) : training.complain(message)),
});
startDemo();
void describeMachine();
