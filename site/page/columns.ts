// The columns of a file to choose from, where the one for the text, the labels or the id has another name.

import type { MissingColumn } from "../worker/messages.ts";
import { byId } from "./dom.ts";

/** Offers them in the options; `onChosen` is told when one was named, and reads the file again. */
export function offerColumns({ names, of }: MissingColumn, onChosen: () => void): void {
  byId("columns", HTMLDataListElement).replaceChildren(
    ...names.map((name) => {
      const option = document.createElement("option");
      option.value = name;
      return option;
    }),
  );
  const field = byId(`${of}-name`, HTMLInputElement);
  const options = field.closest("details");
  if (options) options.open = true;
  field.addEventListener("change", onChosen, { once: true });
  // Where labels have another name the text may have one too; the labels are named last.
  const text = byId("text-name", HTMLInputElement);
  const textToo = of === "labels" && text.value === "" && !names.includes("text");
  (textToo ? text : field).focus();
}
