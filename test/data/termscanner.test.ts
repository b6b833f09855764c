import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TermCounter } from "../../src/data/termcounter.ts";
import { fieldOf, forEachTerm, type TermRules } from "../../src/data/terms.ts";
import { TermScanner } from "../../src/data/termscanner.ts";
import { hashUnits, TermTable } from "../../src/data/termtable.ts";

const rules = fc.record({
  wordNgrams: fc.integer({ min: 0, max: 4 }),
  charNgrams: fc.option(fc.constantFrom<[number, number]>([1, 1], [2, 4], [3, 5]), { nil: undefined }),
  opening: fc.option(fc.constant(0.7), { nil: undefined }),
  charWeight: fc.option(fc.constant(0.5), { nil: undefined }),
});

interface SomeRules {
  wordNgrams: number;
  charNgrams?: [number, number] | undefined;
  opening?: number | undefined;
  charWeight?: number | undefined;
}

function rulesOf({ wordNgrams, charNgrams, opening, charWeight }: SomeRules): TermRules {
  return {
    ...{ wordNgrams, sublinear: true, idf: true, normalise: true },
    ...(charNgrams && { charNgrams }),
    ...(opening && { opening }),
    ...(charWeight && { charWeight }),
  };
}

/** The terms as text.ts has them, in any order. */
function expectedTerms(text: string, how: TermRules): string[] {
  const terms: string[] = [];
  forEachTerm(text, how, (term, field) => {
    expect(fieldOf(how, term.charCodeAt(0))).toBe(field);
    terms.push(`${field} ${term}`);
  });
  return terms.sort();
}

function scannedTerms(text: string, how: TermRules, scanner = new TermScanner(how)): string[] {
  const terms: string[] = [];
  scanner.scan(text, (units, from, to, hash, field) => {
    expect(hash).toBe(hashUnits(units, from, to));
    terms.push(`${field} ${String.fromCharCode(...units.subarray(from, to))}`);
  });
  return terms.sort();
}

/** Words with what the rules are about: apostrophes, capitals, marks, sigmas, ligatures, scripts, surrogates. */
const piece = fc.constantFrom(
  ..."abzAZ019 _-.'’".split(""),
  ..."éÉßİıΣσςΟǅŉ²½µ¨ʼ".split(""),
  "e\u0301",
  "\u0301",
  "Привет",
  "ЁЖ",
  "Việt",
  "ﬀ",
  "日本",
  "ไทย",
  "한",
  "\u1112\u1161\u11ab",
  "שלום",
  "שָׁלוֹם",
  "مرحبا",
  "𝒳",
  "😀",
  "\ud800",
  "…",
  "“",
  "\u00a0",
  "\u2028",
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

describe("the terms of a text", () => {
  test("are those of the rules, whatever the text", () => {
    const scanners = new Map<string, TermScanner>();
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary" }), fc.string()), rules, (each, some) => {
        const how = rulesOf(some);
        const key = JSON.stringify(how);
        const scanner = scanners.get(key) ?? new TermScanner(how); // used again, as a file does
        scanners.set(key, scanner);
        expect(scannedTerms(each, how, scanner)).toEqual(expectedTerms(each, how));
      }),
      { numRuns: 3000 },
    );
  });
  test("of every character alone, between letters and after one", () => {
    const how = rulesOf({ wordNgrams: 1 });
    const scanner = new TermScanner(how);
    for (let unit = 0; unit < 0x3000; unit++) {
      const character = String.fromCharCode(unit);
      const around = `${character} a${character}b A${character}`;
      const expected = expectedTerms(around, how);
      if (String(scannedTerms(around, how, scanner)) !== String(expected))
        expect([unit, scannedTerms(around, how)]).toEqual([unit, expected]);
    }
  });
  test("of a text longer than any buffer", () => {
    const how = rulesOf({ wordNgrams: 2, charNgrams: [3, 3], opening: 0.7 });
    const long = `${"word ".repeat(9000)}${"x".repeat(70_000)}`;
    expect(scannedTerms(long, how)).toEqual(expectedTerms(long, how));
  });
});

describe("numbers of terms", () => {
  test("are those of a map", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 3000 }), (terms) => {
        const table = new TermTable();
        const map = new Map<string, number>();
        for (const term of terms) {
          if (!map.has(term)) map.set(term, map.size);
          const units = Uint16Array.from(term.split(""), (each) => each.charCodeAt(0));
          const hash = hashUnits(units, 0, units.length);
          expect(table.add(units, 0, units.length, hash)).toBe(map.get(term));
          expect(table.find(units, 0, units.length, hash)).toBe(map.get(term));
        }
        expect(Array.from(map.keys(), (_, number) => table.term(number))).toEqual([...map.keys()]);
        const absent = Uint16Array.of(1, 2, 3, 4);
        expect(table.find(absent, 0, 4, hashUnits(absent, 0, 4))).toBe(-1);
      }),
      { numRuns: 50 },
    );
  });
});

describe("counts", () => {
  test("of terms in texts are those of a double loop", () => {
    const word = fc.constantFrom<string>("a", "b", "c", "d", "e");
    const texts = fc.array(fc.array(word, { maxLength: 12 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom<string[]>(["a", "c", "e"], ["e", "d", "c", "b", "a"]),
        (each, columns) => {
          const counter = new TermCounter(rulesOf({ wordNgrams: 1 }));
          for (const words of each) counter.add(words.join(" "));
          const columnOf = Int32Array.from({ length: counter.table.size }, (_, number) =>
            columns.indexOf(counter.table.term(number)),
          );
          for (let number = 0; number < counter.table.size; number++) {
            const having = each.filter((words) => words.includes(counter.table.term(number)));
            expect(counter.documentFrequency(number)).toBe(having.length);
          }
          const { rowStart, columnIndex, counts, unknown } = counter.rename(columnOf);
          for (const [row, words] of each.entries()) {
            const [from, to] = [rowStart[row] as number, rowStart[row + 1] as number];
            const found = Array.from(columnIndex.subarray(from, to), (column, i) => [
              column,
              counts[from + i],
            ]);
            const expected = columns
              .map((term, column) => [column, words.filter((own) => own === term).length])
              .filter(([, count]) => (count as number) > 0);
            expect(found).toEqual(expected);
            const others = words.filter((own) => !columns.includes(own)).length;
            expect([...unknown.subarray(3 * row, 3 * row + 3)]).toEqual([others, 0, 0]);
          }
        },
      ),
    );
  });
});
