// The same tests in Node and in Chromium; Deno and Bun run them with their own runners (scripts/test.ts).

import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { vulkanEnvironment } from "./scripts/vulkan.ts";

// Processes that run tests are started from this one, and find its GPU adapter.
Object.assign(process.env, vulkanEnvironment());

/** What a page must send to have threads. */
const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Tests that need a file system or other programs. */
const hostOnly = ["test/**/*.files.test.ts", "test/runtimes/**"];
/** Tests of the page drive a browser and watch its main thread: they run one at a time and alone. */
const page = ["test/site/browser/**"];
/** Tests that start what runs many processes: each is a step of its own. */
const engines = ["slurm", "mpi"];

export default defineConfig({
  test: {
    testTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: [...page, "test/engines/**"],
          environment: "node",
          maxWorkers: 2,
        },
      },
      ...engines.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/engines/${name}.files.test.ts`],
          environment: "node",
          hookTimeout: 120_000,
        },
      })),
      {
        extends: true,
        test: {
          name: "page",
          include: page.map((folder) => `${folder}/*.test.ts`),
          environment: "node",
          fileParallelism: false,
          hookTimeout: 120_000,
        },
      },
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
