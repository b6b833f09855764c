// The options form, read.

import type { DeviceChoice, LabelSettings, TrainSettings } from "../worker/messages.ts";
import { byId } from "./dom.ts";
import type { NoteOptions } from "./notes.ts";

/** A number that was typed, or undefined; refuses what the field does not take. */
function typedNumber(id: string): number | undefined {
  const field = byId(id, HTMLInputElement);
  if (!field.validity.valid) {
    const name = field.labels?.[0]?.textContent ?? id;
    const range = field.max === "" ? `from ${field.min}` : `from ${field.min} to ${field.max}`;
    const kind = field.step === "1" ? "a whole number" : "a number";
    throw new Error(`${name}: found ${field.value || "no number"}, expected ${kind} ${range}`);
  }
  return field.value === "" ? undefined : field.valueAsNumber;
}

const given = <T>(name: string, value: T | undefined | ""): Record<string, T> =>
  value === undefined || value === "" ? {} : { [name]: value };

/** Names, separated by commas. */
const typedNames = (id: string): readonly string[] | undefined => {
  const names = typedName(id)
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length > 0 ? names : undefined;
};

const typedName = (id: string): string => byId(id, HTMLInputElement).value.trim();

export function readSettings(): TrainSettings {
  return {
    device: byId("device", HTMLSelectElement).value as DeviceChoice,
    model: byId("model-choice", HTMLSelectElement).value,
    heldOut: (typedNumber("held-out") ?? 0) / 100,
    lenient: byId("lenient", HTMLInputElement).checked,
    ...given("epochs", typedNumber("epochs")),
    ...given("factors", typedNumber("factors")),
    ...given("seed", typedNumber("seed")),
    ...given("textName", typedNames("text-name")),
    ...given("labelsName", typedNames("labels-name")),
    ...given("oneHot", typedNames("one-hot")),
  };
}

export function readLabelSettings(): LabelSettings {
  return {
    lenient: byId("lenient", HTMLInputElement).checked,
    ...given("textName", typedNames("text-name")),
    ...given("idName", typedName("id-name")),
  };
}

/** How notes are read: the columns of labels are keys of their front matter. */
export const readNoteSettings = (unlabelled: boolean): NoteOptions => ({
  unlabelled,
  lenient: byId("lenient", HTMLInputElement).checked,
  keys: typedNames("labels-name"),
});
