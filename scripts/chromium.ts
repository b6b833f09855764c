// Finds Debian's Chromium, or installs it where that is allowed, or says how.

import { ensureProgram } from "./debian.ts";

/** Path of the browser; ends this process with the command to run where there is none and none can be installed. */
export const ensureChromium = (): string =>
  ensureProgram({
    name: "Chromium",
    paths: [
      process.env.CHROMIUM_PATH,
      "/usr/bin/chromium",
      "/usr/bin/chromium-browser",
      "/usr/bin/google-chrome",
    ],
    packages: "chromium",
    otherwise: "or set CHROMIUM_PATH to one you have.",
  });
