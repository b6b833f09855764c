// A report opened from disk in a browser, offline: on a wide screen, on a phone, in the dark and on paper.
// @module-tag long

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { htmlReport } from "../../src/report/page.ts";
import { example } from "./support.ts";

const PICTURES = "results/report";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Names that people have, and some that nobody should. */
const names = Array.from({ length: 30 }, (_, i) => {
  if (i === 0) return `</script><img src="https://example.com/x.png" onerror="globalThis.hit = 1">`;
  if (i === 1) return "x".repeat(300);
  return `topic ${i}${i % 3 === 0 ? " (a name of several words, as some have)" : ""}`;
});

interface Opened {
  page: Page;
  /** Whatever the page said or asked the network for. */
  complaints: string[];
}

async function open(browser: Browser, url: string, options: BrowserContextOptions): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== url) complaints.push(`request of ${request.url()}`);
  });
  await page.goto(url);
  return { page, complaints };
}

async function withReport(measured: boolean, body: (browser: Browser, url: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mlgpf-report-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH || "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    const { input } = await example({ names, measured });
    const path = join(folder, "report.html");
    writeFileSync(path, htmlReport(input));
    mkdirSync(PICTURES, { recursive: true });
    await body(browser, pathToFileURL(path).href);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

/** Findings of axe-core that keep people from reading the page. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const violations = await page.evaluate(() =>
    (
      globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: { id: string; impact: string }[] }> };
      }
    ).axe
      .run({ resultTypes: ["violations"] })
      .then((result) => result.violations),
  );
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id);
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const visible = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    (wanted) => [...document.querySelectorAll(wanted)].filter((element) => element.checkVisibility()).length,
    selector,
  );

describe("a report in a browser", () => {
  const screens = {
    light: { viewport: { width: 1200, height: 900 }, colorScheme: "light" },
    dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
    phone: { viewport: { width: 360, height: 740 }, colorScheme: "light" },
  } as const;

  test("is quiet, fits and can be read by everyone on every screen", async () => {
    await withReport(true, async (browser, url) => {
      for (const [name, screen] of Object.entries(screens)) {
        const { page, complaints } = await open(browser, url, screen);
        expect(await visible(page, "svg.lines")).toBe(4);
        expect(await overflow(page)).toBe(0);
        expect(complaints).toEqual([]);
        expect(await page.evaluate(() => "hit" in globalThis)).toBe(false);
        await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
        expect(await seriousFindings(page)).toEqual([]);
        await page.context().close();
      }
    });
  });

  test("follows the window and the theme", async () => {
    await withReport(true, async (browser, url) => {
      const { page } = await open(browser, url, screens.light);
      const colour = (): Promise<string> =>
        page.evaluate(() => getComputedStyle(document.querySelector("svg.lines .s1") as Element).stroke);
      const before = await colour();
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await colour()).not.toBe(before);
      await page.setViewportSize({ width: 500, height: 800 });
      expect(await overflow(page)).toBe(0);
    });
  });

  test("prints on a few pages with its tables open, and runs no script", async () => {
    await withReport(true, async (browser, url) => {
      const { page } = await open(browser, url, screens.dark);
      const pdf = await page.pdf({ path: `${PICTURES}/paper.pdf`, format: "A4" });
      const pages = new TextDecoder("latin1").decode(pdf).match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      expect(pages).toBeGreaterThan(3);
      expect(pages).toBeLessThan(16);
      expect(await visible(page, "#thresholds tbody td")).toBe(0);
      await page.setViewportSize({ width: 680, height: 960 });
      await page.emulateMedia({ media: "print" });
      expect(await visible(page, "svg.lines")).toBe(4);
      expect(await visible(page, "#thresholds tbody td")).toBeGreaterThan(0);
      expect(await overflow(page)).toBe(0);
      const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      expect(ground).toBe("rgb(255, 255, 255)");
      await page.screenshot({ path: `${PICTURES}/paper.png`, fullPage: true });

      const plain = await open(browser, url, { ...screens.light, javaScriptEnabled: false });
      expect(await plain.page.locator("svg.lines:visible").count()).toBe(4);
    });
  });

  test("without measurements says how to get them, and runs no script", async () => {
    await withReport(false, async (browser, url) => {
      const { page, complaints } = await open(browser, url, screens.light);
      expect(await visible(page, "#unmeasured")).toBe(1);
      expect(await seriousFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "globalThis.hit = 1";
        document.head.append(script);
      });
      expect(await page.evaluate(() => "hit" in globalThis)).toBe(false);
      expect(complaints.join(" ")).toContain("Content Security Policy");
    });
  });
});
