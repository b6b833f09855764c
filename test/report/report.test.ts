import { describe, expect, test } from "vitest";
import { htmlReport } from "../../src/report/page.ts";
import { type Element, elements, example, parseHtml, tableRows, textOf } from "./support.ts";

const NASTY = [
  `</script><script>alert(1)</script>`,
  `<img src=x onerror="alert(1)">`,
  `"' onmouseover='alert(1)`,
  `<!-- <style>*{display:none}`,
  `&amp;&lt;\u2028\u0000\u202Eevil\ud800`,
  `${"long ".repeat(2000)}`,
];

/** Everything that must hold for any report. */
function wellFormed(report: string): Element {
  const root = parseHtml(report);
  const all = elements(root);
  const ids = all.flatMap(({ attributes }) => (attributes.id === undefined ? [] : [attributes.id]));
  expect(new Set(ids).size).toBe(ids.length);
  for (const { tag, attributes } of all) {
    for (const name of Object.keys(attributes)) expect(name.startsWith("on")).toBe(false);
    expect(attributes.src).toBe(undefined);
    expect(attributes.href).toBe(undefined);
    expect(["img", "iframe", "object", "embed", "link", "a", "form"]).not.toContain(tag);
    if (tag === "svg" && attributes["aria-hidden"] === undefined)
      expect((attributes["aria-label"] ?? "").length).toBeGreaterThan(10);
  }
  expect(all.some(({ tag }) => tag === "script")).toBe(false);
  for (const table of all.filter(({ tag }) => tag === "table")) {
    const inside = elements(table);
    expect(inside.some(({ tag }) => tag === "caption")).toBe(true);
    for (const head of inside.filter(({ tag }) => tag === "th")) expect(head.attributes.scope).not.toBe(undefined);
  }
  expect(textOf(root).includes("NaN")).toBe(false);
  expect(textOf(root).includes("undefined")).toBe(false);
  return root;
}

describe("the report's figures", () => {
  test("are those of the definitions", async () => {
    const { model, data, input, probability } = await example();
    const root = wellFormed(htmlReport(input));
    const k = model.schema.labels;
    const truth = (row: number): number[] => [
      ...data.labels.labelIndex.subarray(data.labels.rowStart[row], data.labels.rowStart[row + 1]),
    ];
    const rows = Array.from({ length: data.labels.rows }, (_, row) => row).filter((row) => truth(row).length > 0);
    const best = (row: number): number[] =>
      Array.from({ length: k }, (_, label) => label).sort(
        (a, b) => probability[row * k + b] - probability[row * k + a] || a - b,
      );
    const precision = (depth: number): string => {
      const hits = rows.map(
        (row) =>
          best(row)
            .slice(0, depth)
            .filter((label) => truth(row).includes(label)).length,
      );
      return ((100 * hits.reduce((a, b) => a + b, 0)) / (depth * rows.length)).toFixed(2);
    };
    const [first] = tableRows(root, "ranking") as [string[]];
    expect(first.slice(1)).toEqual([precision(1), precision(3), precision(5)]);

    const y = (row: number, label: number): number => (truth(row).includes(label) ? 1 : 0);
    const all = Array.from({ length: data.labels.rows }, (_, row) => row);
    const pairs = all.flatMap((row) =>
      Array.from({ length: k }, (_, label) => [probability[row * k + label], y(row, label)] as const),
    );
    const cells = (id: string, name: string): string[] =>
      tableRows(root, id).find(([first]) => first?.startsWith(name)) as string[];
    const brier = pairs.reduce((sum, [p, yes]) => sum + (p - yes) ** 2, 0) / all.length;
    const loss = pairs.reduce((sum, [p, yes]) => sum - Math.log(yes ? p : 1 - p), 0) / all.length;
    expect(Math.abs(Number(cells("proper", "Brier")[1]) - brier)).toBeLessThan(1e-4);
    expect(Math.abs(Number(cells("proper", "Log loss")[1]) - loss)).toBeLessThan(1e-4);

    const likely = pairs.filter(([p]) => p >= 0.05);
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [confidence, accuracy] = [mean(likely.map(([p]) => p)), mean(likely.map(([, yes]) => yes))];
    const shown = cells("calibration", "At least 5");
    expect(shown[1]?.replaceAll(",", "")).toBe(String(likely.length));
    expect(shown.slice(2, 4)).toEqual([confidence, accuracy].map((part) => `${(100 * part).toFixed(1)}\u00a0%`));
    // The over- and underconfident parts differ by what is said too much over all.
    expect(Number(shown[5]) - Number(shown[6])).toBeCloseTo(100 * (confidence - accuracy), 1);
    const counted = (id: string): number =>
      tableRows(root, id).reduce((sum, row) => sum + Number(row[1]?.replaceAll(",", "")), 0);
    expect(counted("overFivePercent")).toBe(likely.length);
    expect(counted("top5")).toBe(5 * all.length);
    expect(tableRows(root, "top5").length).toBe(15);
    expect(textOf(root)).toContain(`${pairs.length.toLocaleString("en")} pairs of a row and a label`);

    const occurrences = tableRows(root, "byFrequency").map((row) => Number(row[2]));
    expect(occurrences.reduce((a, b) => a + b, 0)).toBe(data.labels.labelIndex.length);
    const at = tableRows(root, "thresholds").find(([threshold]) => threshold === "0.30") as string[];
    const kept = pairs.filter(([p]) => p >= 0.3);
    expect(at[1]).toBe((kept.length / all.length).toFixed(2));
    expect(at[2]).toBe((100 * mean(kept.map(([, yes]) => yes))).toFixed(2));
  });

  test("each dot of the plots has its interval and its number of predictions", async () => {
    const { input } = await example();
    const root = parseHtml(htmlReport(input));
    const plots = elements(root).filter(({ attributes }) => attributes.class === "reliability");
    expect(plots.length).toBe(2);
    (["top5", "overFivePercent"] as const).forEach((kind, i) => {
      const groups = input.measured?.calibration[kind].groups ?? [];
      const dots = elements(plots[i]).filter(({ tag }) => tag === "g");
      expect(dots.length).toBe(groups.length);
      dots.forEach((dot, g) => {
        const [circle, interval] = ["circle", "path"].map((wanted) =>
          elements(dot).find(({ tag }) => tag === wanted),
        ) as [Element, Element];
        const height = Number(circle.attributes.cy);
        const [, low, high] = /^M[\d.]+ ([\d.]+)V([\d.]+)m/.exec(interval.attributes.d as string) ?? [];
        const group = groups[g] as (typeof groups)[number];
        // A part of one is as many pixels everywhere.
        const pixels = (Number(low) - Number(high)) / (group.high - group.low);
        expect(Math.abs(height - Number(high) - pixels * (group.high - group.accuracy))).toBeLessThan(0.2);
        expect(Math.abs(Number(low) - height - pixels * (group.accuracy - group.low))).toBeLessThan(0.2);
        expect(textOf(dot)).toContain(`${group.count} predictions`);
      });
    });
  });

  test("a model that is surprised says so, one that is not does not", async () => {
    const { input } = await example();
    const measured = input.measured as NonNullable<typeof input.measured>;
    for (const beyondChance of [true, false]) {
      const expectation = { ...measured.expectation, confidence: 0.9, accuracy: 0.25, beyondChance };
      const root = wellFormed(htmlReport({ ...input, measured: { ...measured, expectation } }));
      const note = elements(root).find(({ attributes }) => attributes.id === "surprise");
      expect(note !== undefined).toBe(beyondChance);
      if (note) expect(textOf(note)).toContain("Top labels: 25.0 % were right, 90.0 % were predicted to be.");
    }
  });

  test("best and worst labels stand in the order of their average precision", async () => {
    const { input } = await example();
    const root = parseHtml(htmlReport(input));
    const figures = (id: string): number[] => tableRows(root, id).map((cells) => Number.parseFloat(cells[1]));
    const [best, worst] = [figures("best"), figures("worst")];
    expect(best).toEqual([...best].sort((a, b) => b - a));
    expect(worst).toEqual([...worst].sort((a, b) => a - b));
    expect(best.at(-1)).toBeGreaterThan(worst.at(-1) as number);
  });

  test("samples mark what is true and name what was missed", async () => {
    const { input, data } = await example({ names: Array.from({ length: 30 }, (_, i) => `topic ${i}`) });
    const root = parseHtml(htmlReport(input));
    const samples = elements(root).filter(({ attributes }) => attributes.class === "sample");
    expect(samples.length).toBe(input.measured?.samples.length as number);
    input.measured?.samples.forEach((sample, i) => {
      const lines = elements(samples[i]).filter(({ tag }) => tag === "li");
      sample.predicted.forEach(({ label, probability, right }, j) => {
        const text = textOf(lines[j]);
        expect(text.includes(right ? "✓true: " : "not true: ")).toBe(true);
        expect(text.includes(`topic ${label}${(100 * probability).toFixed(1)}\u00a0%`)).toBe(true);
      });
      const row = Number(sample.title.replace("Row ", "")) - 1;
      const found = sample.predicted.flatMap(({ label, right }) => (right ? [label] : []));
      const truth = data.labels.labelIndex.subarray(data.labels.rowStart[row], data.labels.rowStart[row + 1]);
      expect([...found, ...sample.missed].sort((a, b) => a - b)).toEqual([...truth]);
      for (const label of sample.missed) expect(textOf(samples[i])).toContain(`topic ${label}`);
    });
  });

  test("options are shown so that the training can be repeated", async () => {
    const { input, model } = await example();
    const rows = tableRows(parseHtml(htmlReport(input)), "options");
    expect(rows.map(([name]) => name)).toEqual(Object.keys(model.summary.options));
    expect(rows.find(([name]) => name === "seed")?.[2]).toBe("12345678901");
  });
});

describe("the report's text", () => {
  test("is the same for the same input", async () => {
    const { input } = await example();
    const again = await example();
    expect(htmlReport(input)).toBe(htmlReport(input));
    expect(htmlReport(again.input)).toBe(htmlReport(input));
  });

  test("cannot be broken out of by names, texts or notes", async () => {
    const names = Array.from({ length: 30 }, (_, i) => NASTY[i % NASTY.length]);
    const { input } = await example({ names });
    const nasty = NASTY.join(" ");
    const report = htmlReport({
      ...input,
      title: NASTY[0],
      run: { ...input.run, notes: NASTY, machine: nasty },
      model: { ...input.model, summary: { ...input.model.summary, options: { [NASTY[1]]: NASTY[2] } } },
      ...(input.measured
        ? {
            measured: {
              ...input.measured,
              file: nasty,
              samples: input.measured.samples.map((sample) => ({ ...sample, title: nasty, text: nasty })),
            },
          }
        : {}),
    });
    const root = wellFormed(report);
    expect(textOf(elements(root).find(({ tag }) => tag === "h1") as Element)).toBe(NASTY[0]);
    for (const character of ["\u0000", "\u2028", "\u202e", "\ud800"]) expect(report.includes(character)).toBe(false);
    expect(elements(root).filter(({ attributes }) => attributes["data-plot"]).length).toBe(4);
  });

  test("says the numbers of a plot where the pointer rests", async () => {
    const { input } = await example();
    const root = parseHtml(htmlReport(input));
    const plot = elements(root).find(({ attributes }) => attributes["data-plot"] === "thresholds");
    const told = elements(plot as Element).filter(({ tag }) => tag === "rect");
    const { thresholds } = input.measured?.thresholds ?? { thresholds: [] };
    expect(told.length).toBe(thresholds.length);
    expect(textOf(told[3])).toMatch(/^threshold 0\.2: precision [\d.]+, recall [\d.]+, F1 [\d.]+$/);
  });

  test("has a table of confusions and the accuracy where every row has one label", async () => {
    const { input } = await example();
    const measured = input.measured as NonNullable<typeof input.measured>;
    expect(() => tableRows(wellFormed(htmlReport(input)), "confusions")).toThrow("found no table");
    const confusion = [
      { truth: 1, predicted: 1, count: 30 },
      { truth: 1, predicted: 4, count: 8 },
      { truth: 4, predicted: 1, count: 2 },
    ];
    const singleLabel = { points: 40, accuracy: 0.75, confusion };
    const reportOf = (some: typeof measured.perLabel) =>
      wellFormed(htmlReport({ ...input, measured: { ...measured, singleLabel, perLabel: some } }));
    const list = reportOf(measured.perLabel);
    expect(tableRows(list, "confusions")).toEqual([
      ["label 1", "label 4", "8"],
      ["label 4", "label 1", "2"],
    ]);
    expect(textOf(list)).toContain("Accuracy: 75.0 %");
    const matrix = reportOf(measured.perLabel.filter(({ label }) => label === 1 || label === 4));
    expect(tableRows(matrix, "confusions")).toEqual([
      ["label 1", "30", "8"],
      ["label 4", "2", "0"],
    ]);
  });

  test("says how to measure where nothing was measured", async () => {
    const { input } = await example({ measured: false });
    const root = wellFormed(htmlReport(input));
    const note = elements(root).find(({ attributes }) => attributes.id === "unmeasured") as Element;
    expect(textOf(note)).toContain("--valid FILE");
    expect(elements(root).some(({ attributes }) => attributes.id === "ranking")).toBe(false);
  });

  test("says so where the training ran on a GPU or needed help", async () => {
    const { input } = await example();
    const root = wellFormed(
      htmlReport({
        ...input,
        model: {
          ...input.model,
          summary: { ...input.model.summary, device: "webgpu: a card", raisedFactorisations: 3 },
        },
      }),
    );
    const course = elements(root).find(({ attributes }) => attributes.id === "course") as Element;
    expect(textOf(course)).toContain("3 factorisations needed");
    expect(tableRows(root, "size").find(([name]) => name === "Device")?.[1]).toBe("webgpu: a card");
  });

  test("stands without a history, and with one label", async () => {
    const { input } = await example();
    const { history: _, ...rest } = input;
    expect(textOf(wellFormed(htmlReport(rest)))).not.toContain("How the training went");
    const single = await example({ labels: 1, points: 60 });
    wellFormed(htmlReport(single.input));
  });

  test("stays below 1.5 MB with ten thousand labels of long names", async () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `${i} ${"a very long name ".repeat(20)}`);
    const { input } = await example({ labels: 10_000, points: 200, names });
    const bytes = new TextEncoder().encode(htmlReport(input)).length;
    expect(bytes).toBeLessThan(1_500_000);
  });
});
