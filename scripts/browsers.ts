// The browsers that tests open: an address in a new profile, without a driver. A page says by itself how it went: vitest's
// own pages do, and test pages post their outcome to the server they came from.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Wanted } from "./machine.ts";

export type BrowserName = "chromium" | "firefox" | "webkit";

export interface OpenBrowser {
  /** Ends it, with all its processes. */
  close(): Promise<void>;
}

const path = (...candidates: (string | undefined)[]): string | undefined =>
  candidates.find((each) => each !== undefined && existsSync(each));

export const chromiumPath = (): string | undefined =>
  path(
    process.env.CHROMIUM_PATH || undefined,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  );
const firefoxPath = (): string | undefined =>
  path(process.env.FIREFOX_PATH, "/usr/bin/firefox-esr", "/usr/bin/firefox");
/** WebKitGTK's small browser. */
const webkitPath = (): string | undefined =>
  path(
    process.env.WEBKIT_PATH,
    ...["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`),
  );

export const browserPrograms: Record<BrowserName, Wanted> = {
  chromium: { name: "Chromium", packages: ["chromium"], isThere: () => chromiumPath() !== undefined },
  firefox: { name: "Firefox", packages: ["firefox-esr"], isThere: () => firefoxPath() !== undefined },
  webkit: {
    name: "WebKitGTK",
    packages: ["libwebkit2gtk-4.1-0", "xvfb", "xauth", "dbus"],
    isThere: () => webkitPath() !== undefined && existsSync("/usr/bin/xvfb-run"),
  },
};

/** Settings without which Firefox asks or fetches things at its first start. */
const FIREFOX_PREFERENCES = {
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false,
};

/** The command that opens an address, with a folder for the profile. */
function command(name: BrowserName, url: string, profile: string): string[] {
  switch (name) {
    case "chromium": {
      const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
      return [chromiumPath() ?? "chromium", ...flags, `--user-data-dir=${profile}`, url];
    }
    case "firefox": {
      const lines = Object.entries(FIREFOX_PREFERENCES).map(
        ([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});\n`,
      );
      writeFileSync(join(profile, "user.js"), lines.join(""));
      return [firefoxPath() ?? "firefox-esr", "--headless", "--no-remote", "--profile", profile, url];
    }
    case "webkit":
      return ["xvfb-run", "-a", "dbus-run-session", "--", webkitPath() ?? "MiniBrowser", "--private", url];
  }
}

/** Opens an address in a browser that has seen nothing before. */
export function openBrowser(name: BrowserName, url: string): OpenBrowser {
  const profile = mkdtempSync(join(tmpdir(), `mlgpf-${name}-`));
  const [program, ...args] = command(name, url, profile);
  const child = spawn(program as string, args, {
    stdio: "ignore",
    // A group of its own: xvfb-run and browsers start processes that do not end with them.
    detached: true,
    env: {
      ...process.env,
      HOME: profile,
      // WebKit's navigator.language; the C of many machines is no language that Intl knows.
      LANG: "en_US.UTF-8",
      LC_ALL: "en_US.UTF-8",
      // Its sandbox wants a user who is not root.
      ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" }),
    },
  });
  const ended = new Promise((done) => child.on("close", done).on("error", done));
  return {
    async close() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
