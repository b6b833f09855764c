// Finds Debian's Chromium, or installs it where that is allowed, or says how.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const COMMAND = "apt-get update && apt-get install -y --no-install-recommends chromium";

/** Path of the browser; ends this process with the command to run where there is none and none can be installed. */
export function ensureChromium(): string {
  const found = [
    process.env.CHROMIUM_PATH,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ].find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  const maySudo = process.getuid?.() !== 0 && spawnSync("sudo", ["-n", "true"]).status === 0;
  if (existsSync("/usr/bin/apt-get") && (process.getuid?.() === 0 || maySudo)) {
    console.log("Chromium is missing: installing Debian's package");
    const command = maySudo ? `sudo sh -c '${COMMAND}'` : COMMAND;
    spawnSync("sh", ["-c", command], {
      stdio: "inherit",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (existsSync("/usr/bin/chromium")) return "/usr/bin/chromium";
  }
  console.error(
    `The browser tests need Chromium. Install it with\n\n  sudo sh -c '${COMMAND}'\n\nor set CHROMIUM_PATH to one you have.`,
  );
  process.exit(1);
}
