// The page: connects the buttons and files of index.html to the two workers.

import { Asking } from "./asking.ts";
import { byId } from "./dom.ts";
import { listenForFiles } from "./files.ts";
import { describeMachine } from "./machine.ts";
import { readSettings } from "./settings.ts";
import { Training } from "./training.ts";

const training = new Training((file, state) => asking.load(file, state), train);
const asking = new Asking((message) => training.complain(message));

function train(source: "sample" | File): void {
  try {
    if (training.busy) throw new Error("A training is under way: stop it before you start another.");
    training.start(source, readSettings());
  } catch (error) {
    training.complain((error as Error).message);
  }
}

byId("train-sample", HTMLButtonElement).addEventListener("click", () => train("sample"));
byId("settings", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
listenForFiles({
  data: train,
  texts: (file) => asking.label(file),
  model: (file) => asking.load({ name: file.name, content: file }),
  problem: (message) => training.complain(message),
});
void describeMachine();
