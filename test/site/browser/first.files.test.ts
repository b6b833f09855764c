// The first screen: a loaded tagger answers a text that is there already, marks words, has a threshold, and learns a lesson.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { MOST_TAGGER } from "../../../site/tools/build.ts";
import { ask, siteOfFile } from "./support.ts";

const site = siteOfFile();

/** A page whose tagger has answered and can be taught. */
async function ready(hash = ""): Promise<{ page: Page; errors: string[]; requests: string[] }> {
  const opened = await site.open({}, hash);
  await opened.page.waitForSelector("#demo-answers li");
  return opened;
}

const teachable = (page: Page): Promise<unknown> => page.waitForSelector("#demo-answers .tick");

const text = (page: Page, id: string): Promise<string> => page.locator(`#${id}`).innerText();

describe("the first screen", () => {
  test("answers before anything is done, with the words behind the labels marked in the text", async () => {
    const { page, errors, requests } = await ready();
    const names = await page.locator("#demo-answers .kept .name").allInnerTexts();
    expect(names).toContain("writer");
    expect(await page.locator("#demo-marks mark").allInnerTexts()).toContain("poet");
    // The marked copy has the text's own lines.
    const heights = await page.evaluate(() =>
      ["demo-marks", "demo-text"].map((id) => document.getElementById(id)?.getBoundingClientRect().height),
    );
    expect(heights[0]).toBe(heights[1]);
    expect(await text(page, "demo-model")).toMatch(
      /^A tagger of 69 labels, trained on 4\d,\d{3} dictionary definitions/,
    );
    await teachable(page);
    expect(requests.every((url) => url.startsWith(page.url()))).toBe(true);
    expect(errors).toEqual([]);
    const tagger = site.sizes.files.filter(({ name }) => name.startsWith("tagger."));
    expect(tagger.length).toBe(2);
    expect(tagger.reduce((sum, { packed }) => sum + packed, 0)).toBeLessThan(MOST_TAGGER);
  });

  test("has a threshold whose precision rises and whose recall falls", async () => {
    const { page } = await ready();
    const figures: [number, number][] = [];
    for (const percent of [10, 50, 90]) {
      await page.locator("#demo-sure").fill(String(percent));
      const [, precision, recall] =
        /: (\d+) % of them were right, and (\d+) % of the true labels/.exec(await text(page, "demo-sure-words")) ?? [];
      figures.push([Number(precision), Number(recall)]);
      const kept = await page.locator("#demo-answers .kept .chance").allInnerTexts();
      const below = await page.locator("#demo-answers .below .chance").allInnerTexts();
      expect(kept.every((chance) => Number.parseFloat(chance) >= percent)).toBe(true);
      expect(below.every((chance) => Number.parseFloat(chance) < percent)).toBe(true);
    }
    expect(figures[0][0]).toBeLessThan(figures[2][0]);
    expect(figures[0][1]).toBeGreaterThan(figures[2][1]);
    expect(figures[2][0]).toBeGreaterThan(90);
  });

  test("learns a new label from one lesson, and other texts with its words change too", async () => {
    const { page, errors } = await ready();
    await teachable(page);
    const lesson = "a board game played with black and white stones";
    const before = await ask(page, lesson, "demo-");
    expect(before.some(({ label }) => label === "game")).toBe(false);
    await page.fill("#demo-right-labels", "game");
    await page.click("#demo-learn");
    await page.waitForFunction(() => /^Learned/.test(document.getElementById("demo-learned")?.textContent ?? ""));
    const [, said, now] = /game: ([\d.]+) % before, ([\d.]+) % now/.exec(await text(page, "demo-learned")) ?? [];
    expect(Number(said)).toBe(0);
    expect(Number(now)).toBeGreaterThan(50);
    await page.waitForFunction(() => document.querySelector("#demo-answers .name")?.textContent === "game");
    const other = await ask(page, "a game with stones", "demo-");
    expect(other.some(({ label }) => label === "game")).toBe(true);
    const bird = await ask(page, "a small yellow bird", "demo-");
    expect(bird.slice(0, 2).map(({ label }) => label)).toContain("bird"); // a bird is an animal too
    expect(errors).toEqual([]);
  });

  test("takes ticks and crosses as the lesson", async () => {
    const { page } = await ready();
    await teachable(page);
    const [first] = await ask(page, "a small yellow bird", "demo-");
    await page.click(`#demo-answers .cross[aria-label="${first?.label} is wrong"]`);
    expect(await page.inputValue("#demo-right-labels")).not.toContain(first?.label ?? "");
    expect(await page.getAttribute(`[aria-label="${first?.label} is wrong"]`, "aria-pressed")).toBe("true");
    await page.click(`#demo-answers .tick[aria-label="${first?.label} is right"]`);
    expect(await page.inputValue("#demo-right-labels")).toContain(first?.label ?? "");
    const chance = Number.parseFloat(first?.chance ?? "");
    await page.click(`#demo-answers .cross[aria-label="${first?.label} is wrong"]`);
    await page.click("#demo-learn");
    await page.waitForFunction(() => /^Learned/.test(document.getElementById("demo-learned")?.textContent ?? ""));
    await ask(page, "a stone bridge", "demo-");
    const after = (await ask(page, "a small yellow bird", "demo-")).find(({ label }) => label === first?.label);
    expect(Number.parseFloat(after?.chance ?? "0")).toBeLessThan(chance);
  });

  test("is shared by an address: its text, and a model", async () => {
    const { page } = await ready(`#${new URLSearchParams({ text: "a small yellow bird" })}`);
    expect(await page.inputValue("#demo-text")).toBe("a small yellow bird");
    expect((await page.locator("#demo-answers .name").allInnerTexts()).slice(0, 2)).toContain("bird");
    await page.fill("#demo-text", "soup & bread");
    await page.click("#demo-share");
    await page.waitForFunction(() => location.hash.includes("soup"));
    const again = await site.open({}, new URL(page.url()).hash);
    expect(await again.page.inputValue("#demo-text")).toBe("soup & bread");

    const own = await ready(`#${new URLSearchParams({ model: "zoo.bin", text: "a wolf that runs" })}`);
    expect(await text(own.page, "demo-model")).toMatch(/^The model is zoo\.bin: 6 labels/);
    expect(await own.page.locator("#demo-answers .name").first().innerText()).toBe("animal");
    expect(await own.page.isVisible("#demo-correct")).toBe(false);
    const lost = await site.open({}, `#${new URLSearchParams({ model: "lost.bin" })}`);
    await lost.page.waitForSelector("#demo-problem:visible");
    expect(await text(lost.page, "demo-problem")).toMatch(/lost\.bin: found status 404, expected a model/);
  });

  test("opens a model of another host on the page that may fetch it", async () => {
    const model = `${site.otherUrl}zoo.bin`;
    const { page } = await ready(`#${new URLSearchParams({ model, text: "a wolf that runs" })}`);
    expect(new URL(page.url()).pathname).toBe("/shared.html");
    expect(await page.locator("#demo-answers .name").first().innerText()).toBe("animal");
  });
});
