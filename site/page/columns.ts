// The columns of a file to choose from, where those looked for are not there: each is text, labels, a label of its own (one-hot), the id, or
// ignored. The choice goes into the options, and the file is read again.

import type { MissingColumn } from "../worker/messages.ts";
import { byId, make } from "./dom.ts";

/** Roles of a column: the option that lists it, and its name for people. */
const ROLES = [
  { field: "", name: "ignore", guess: /^$/ },
  { field: "text-name", name: "text", guess: /text|title|body|abstract|descri|content|summary|words|note/i },
  { field: "labels-name", name: "labels", guess: /label|tag|categor|topic|subject|class|kind/i },
  { field: "one-hot", name: "a label, 1 or 0", guess: /^(is|has)[_-]/i },
  { field: "id-name", name: "id", guess: /^(id|nr|key)$/i },
] as const;

/** Offers them in a form in `place`; `onChosen` is told when the choice is made, and reads the file again. */
export function offerColumns(place: HTMLElement, { names }: MissingColumn, onChosen: () => void): void {
  const choices = names.map((name, i) => {
    const select = make("select", "");
    select.id = `${place.id}-${i}`;
    const guessed = ROLES.findIndex(({ guess }) => guess.test(name));
    ROLES.forEach(({ name: role }, at) => {
      select.append(new Option(role, String(at), false, at === Math.max(0, guessed)));
    });
    const label = make("label", "", name);
    label.htmlFor = select.id;
    return { name, select, label };
  });
  const submit = make("button", "primary", "Use these columns");
  submit.type = "submit";
  const form = make(
    "form",
    "fields",
    ...choices.flatMap(({ label, select }) => [label, select]),
    make("p", "buttons", submit),
  );
  form.setAttribute("aria-label", "Columns of the file");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ROLES.forEach(({ field }, role) => {
      const chosen = choices.filter(({ select }) => select.value === String(role)).map(({ name }) => name);
      if (field !== "") byId(field, HTMLInputElement).value = chosen.join(", ");
    });
    place.replaceChildren();
    onChosen();
  });
  place.replaceChildren(form);
  choices[0]?.select.focus();
}
