// The same tests in Node, Deno and browsers: scripts/test.ts says which runs when. Bun has a runner of its own.

import { defineBrowserProvider } from "@vitest/browser";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { type BrowserName, chromiumPath, type OpenBrowser, openBrowser } from "./scripts/browsers.ts";
import { vulkanEnvironment } from "./scripts/vulkan.ts";

// Processes that run tests are started from this one, and find its GPU adapter.
Object.assign(process.env, vulkanEnvironment());

/** Tests that need a file system or other programs. */
const hostOnly = ["test/**/*.files.test.ts", "test/runtimes/**"];
/** Tests of the page drive a browser and watch its main thread: they run one at a time and alone. */
const page = ["test/site/browser/**"];
/** Tests that start other programs or read the repository: Deno would only repeat them. */
const notForDeno = ["docs", "engines", "house", "package", "runtimes", "site/browser"].map(
  (folder) => `test/${folder}/**`,
);
/** Tests that start what runs many processes: each is a step of its own. */
const engines = ["slurm", "mpi"];

/** Tests in a page that may have threads. */
const inPage = (
  browser: BrowserName,
  provider: ReturnType<typeof defineBrowserProvider>,
): TestProjectInlineConfiguration => ({
  extends: true,
  server: {
    headers: {
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
    },
  },
  optimizeDeps: { include: ["fast-check"] },
  test: {
    name: browser,
    include: ["test/**/*.test.ts"],
    exclude: hostOnly,
    api: { host: "127.0.0.1" },
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider,
      instances: [{ browser }],
    },
  },
});

/** A browser that is only shown the address of the tests; Playwright would want builds of its own. */
function opening(browser: BrowserName): ReturnType<typeof defineBrowserProvider> {
  return defineBrowserProvider({
    name: browser,
    providerFactory() {
      const open: OpenBrowser[] = [];
      return {
        name: browser,
        supportsParallelism: false,
        getCommandsContext: () => ({}),
        openPage: async (_: string, url: string) => void open.push(openBrowser(browser, url)),
        close: async () => void (await Promise.all(open.map((each) => each.close()))),
      };
    },
  });
}

const playwrightChromium = playwright({
  launchOptions: {
    executablePath: chromiumPath() ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--disable-background-networking",
      "--disable-component-update",
    ],
  },
});

export default defineConfig({
  test: {
    testTimeout: 120_000,
    tags: [{ name: "long", description: "takes long, or needs more than npm installs: left out of npm test" }],
    coverage: {
      include: ["src/**"],
      exclude: ["src/generated/**"],
      reporter: ["text-summary", "html", "lcov"],
    },
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
      {
        extends: true,
        test: {
          name: "deno",
          include: ["test/**/*.test.ts"],
          exclude: notForDeno,
          environment: "node",
          // Chromium has the other core.
          maxWorkers: 1,
          isolate: false,
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
      inPage("chromium", playwrightChromium),
      inPage("firefox", opening("firefox")),
      inPage("webkit", opening("webkit")),
    ],
  },
});
