// Lessons as strangers teach them: labels, ids and texts of every kind, right, odd and wrong. The same seed gives the same lesson.

import { Dice } from "./dice.ts";

/** A request that teaches: its route and its body. */
export interface OddLesson {
  readonly route: "learn" | "forget";
  readonly body: unknown;
}

const LABELS = [
  ...["cats", "ships", "music", "0", "2", "3", "7", "12", "007", "-1", "1.5", "1e3", "NaN", "null", "true", "[]"],
  ...["4294967296", "9007199254740993", "99999999999999999999", " 3", "3 ", "\t7\n", "0x10", "١٢"],
  ...[" cats", "cats ", "CATS", "ca\u0000ts", "a,b", "a|b", "a;b", '"quoted"', "<http://example.org/x>", "="],
  ...["http://example.org/x", "__proto__", "constructor", "toString", "length", "labels", "\u001b[31mred\u001b[0m"],
  ...["\u202eevil", "\ud800", "\udfff\ud800", "e\u0301", "\u00e9", "\ufeff", "日本", "\u{1f600}", "\r\n", "\\", "''"],
  "long ".repeat(300),
];
const WORDS = [
  ...["whiskers", "paw", "harbour", "sail", "violin", "chord", "the", "and", "unknown", "\u0000", "\ud83d", "\u2028"],
  ...["x".repeat(2000), "ﬁ", "İ", "ß", "é", "ـ", "123", "_", "-", "http://a.b/c?d=e", "<b>", "\u0007"],
];
const NO_TEXTS = [null, undefined, 5, ["a"], {}, true];

/** An id of few, so that documents are corrected and forgotten; or an odd one, or none. */
const idOf = (dice: Dice): unknown =>
  dice.of([
    ...Array.from({ length: 20 }, (_, i) => `d${i}`),
    ...["__proto__", "", " ", "\ud800", "\u0000", "d".repeat(5000), null, undefined, 7, {}],
  ]);

function subjectsOf(dice: Dice): unknown {
  if (dice.chance(0.04)) return dice.of([null, undefined, "cats", {}, [], [null], ["cats"], [[]], 5]);
  const name = (): unknown => (dice.chance(0.03) ? dice.of(["", " ", null, 5, {}]) : dice.of(LABELS));
  const subject = (): unknown =>
    dice.of([
      () => ({ uri: name() }),
      () => ({ label: name() }),
      () => ({ uri: name(), label: name() }),
      () => ({ uri: name(), more: 1 }),
    ])();
  return Array.from({ length: 1 + dice.below(dice.chance(0.1) ? 40 : 4) }, subject);
}

function documentOf(dice: Dice): unknown {
  if (dice.chance(0.02)) return dice.of([null, 5, "text", [], { text: "a" }, { subjects: [{ label: "cats" }] }]);
  const text = dice.chance(0.02)
    ? dice.of(NO_TEXTS)
    : dice.list(dice.chance(0.05) ? 400 : 8, () => dice.of(WORDS)).join(dice.of([" ", "", "\n", "\t"]));
  return {
    document_id: idOf(dice),
    text,
    subjects: subjectsOf(dice),
    ...(dice.chance(0.1) && { metadata: {} }),
  };
}

export function oddLesson(seed: number): OddLesson {
  const dice = new Dice(seed);
  if (dice.chance(0.01)) return { route: dice.of(["learn", "forget"]), body: dice.of([null, {}, 5, "a", [], [[]]]) };
  if (dice.chance(0.15)) return { route: "forget", body: dice.list(4, () => idOf(dice)) };
  return { route: "learn", body: dice.list(dice.chance(0.1) ? 12 : 3, () => documentOf(dice)) };
}
