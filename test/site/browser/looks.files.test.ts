// How the page looks and behaves for everyone: light and dark, phone and desk, keyboard, screen reader. Screenshots go
// to results/site/ to be looked at.

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chooseFile, inSteps, siteOfFile, smallTexts, statusIs } from "./support.ts";

const SHOTS = "results/site";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

mkdirSync(SHOTS, { recursive: true });
const site = siteOfFile();

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** How many pixels the page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** Texts that do not fit their box. */
const cut = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main *:not(.hidden):not(.spoken):not(textarea)")]
      .filter((element) => element.offsetParent !== null && getComputedStyle(element).overflowX === "hidden")
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map((element) => `${element.tagName} ${element.className}: ${element.textContent?.slice(0, 40)}`),
  );

/** Trains on the sample, or on a few lines where what is trained does not matter. */
async function trainAndAsk(page: Page, source: "sample" | "lines" = "sample"): Promise<void> {
  await inSteps(page, 8);
  if (source === "sample") await page.click("#train-sample");
  else await chooseFile(page, "zoo.jsonl", smallTexts(200));
  await statusIs(page, /^Trained/);
  await page.waitForSelector("#answers li");
}

describe("the page", () => {
  for (const scheme of ["light", "dark"] as const) {
    test(`is accessible and whole in ${scheme} mode`, async () => {
      const { page, errors } = await site.open({ colorScheme: scheme });
      expect(await findings(page)).toEqual([]);
      await page.screenshot({ path: `${SHOTS}/${scheme}-start.png` });
      await trainAndAsk(page);
      await page.locator("summary").click();
      expect(await findings(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      expect(await cut(page)).toEqual([]);
      const [text, ground] = await page.evaluate(() => {
        const { color, backgroundColor } = getComputedStyle(document.documentElement);
        return [color, backgroundColor].map((value) => Number(/\d+/.exec(value)?.[0]));
      });
      expect((text as number) > (ground as number)).toBe(scheme === "dark");
      await page.screenshot({ path: `${SHOTS}/${scheme}.png`, fullPage: true });
      expect(errors).toEqual([]);
    });
  }

  test("fits a phone of 360 pixels, with targets for fingers", async () => {
    const { page } = await site.open({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    expect(await overflow(page)).toBe(0);
    await trainAndAsk(page);
    await page.locator("summary").click();
    expect(await overflow(page)).toBe(0);
    expect(await cut(page)).toEqual([]);
    const low = await page
      .locator("button:visible")
      .evaluateAll((all) => all.map((button) => button.getBoundingClientRect().height).filter((h) => h < 44));
    expect(low).toEqual([]);
    await page.screenshot({ path: `${SHOTS}/phone.png`, fullPage: true });
  });

  test("works by keyboard alone, and the focus is never lost", async () => {
    const { page } = await site.open();
    const focused = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName || "");
    const order: string[] = [];
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press("Tab");
      order.push(await focused());
    }
    expect(order).toEqual(["A", "A", "demo-text", "demo-sure", "demo-another", "demo-share"]);
    await inSteps(page);
    await page.focus("#train-sample");
    await page.keyboard.press("Enter");
    await statusIs(page, /^Training/);
    await page.focus("#pause");
    await page.keyboard.press("Space");
    await statusIs(page, /^Paused/);
    expect(await focused()).toBe("pause");
    await page.focus("#stop");
    await page.keyboard.press("Enter");
    await statusIs(page, /^Stopped/);
    expect(await focused()).toBe("train-sample");
  });

  test("says to a screen reader what happens, each thing once", async () => {
    const { page } = await site.open();
    await page.evaluate(() => {
      const said: string[] = [];
      Object.assign(globalThis, { said });
      const status = document.getElementById("status") as HTMLElement;
      new MutationObserver(() => said.push(status.textContent ?? "")).observe(status, { childList: true });
    });
    await trainAndAsk(page, "lines");
    const said = await page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
    expect(said[0]).toBe("Reading zoo.jsonl");
    expect(said).toContain("Training");
    expect(said.at(-1)).toMatch(/^Trained in/);
    expect(said.length).toBeLessThan(10);
    await page.waitForFunction(() => document.getElementById("answer-status")?.textContent !== "");
    expect(await page.textContent("#answer-status")).toMatch(/^Most likely: .+ \d+\.\d+ %/);
  });

  test("moves nothing for those who asked for less motion", async () => {
    const { page } = await site.open({ reducedMotion: "reduce" });
    await trainAndAsk(page, "lines");
    const durations = await page
      .locator(".bar")
      .evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).transitionDuration));
    expect(new Set(durations)).toEqual(new Set(["0s"]));
  });

  test("stays quick while it trains: no task of the main thread takes more than 100 ms", async () => {
    // What the page itself does comes again in every run; what the machine does beside it does not.
    const runs: number[][] = [];
    for (let run = 0; run < 4 && !runs.some((tasks) => tasks.length === 0); run++) {
      const { page } = await site.open();
      await page.evaluate(() => {
        const tasks: number[] = [];
        Object.assign(globalThis, { tasks });
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) if (duration > 100) tasks.push(duration);
        }).observe({ type: "longtask" });
      });
      await trainAndAsk(page);
      runs.push(await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks));
      await page.context().close();
    }
    expect(runs.at(-1)).toEqual([]);
  });
});
