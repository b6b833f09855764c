// The same tests in Node and in Chromium; Deno and Bun run them with their own runners (scripts/test.ts).

import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";

/** What a page must send to have threads. */
const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Tests that need a file system or other programs. */
const hostOnly = ["test/**/*.files.test.ts", "test/runtimes/**"];

export default defineConfig({
  test: {
    testTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "node", include: ["test/**/*.test.ts"], environment: "node" } },
      {
        extends: true,
        server: { headers: isolation },
        optimizeDeps: { include: ["fast-check"] },
        test: {
          name: "chromium",
          include: ["test/**/*.test.ts"],
          exclude: hostOnly,
          api: { host: "127.0.0.1" },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
                args: [
                  "--no-sandbox",
                  "--enable-unsafe-webgpu",
                  "--use-webgpu-adapter=swiftshader",
                  "--disable-background-networking",
                  "--disable-component-update",
                ],
              },
            }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
