// The environment in which Node and Deno find SwiftShader, the software GPU that comes with Chromium: tests then run on
// the same adapter in every runtime, with or without a GPU in the machine. A driver that VK_ICD_FILENAMES names stays.

import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { chromiumPath } from "./browsers.ts";

const DRIVER = "vk_swiftshader_icd.json";
const LOADER = "libvulkan.so.1";
const FOLDER = "node_modules/.cache/mlgpf/vulkan";

/** Where Chromium's libraries are: beside the browser, or where Debian puts them. */
function libraries(): string | undefined {
  const chromium = chromiumPath();
  const beside = chromium === undefined ? [] : [dirname(realpathSync(chromium))];
  return [...beside, "/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"].find((folder) =>
    existsSync(`${folder}/${DRIVER}`),
  );
}

/** Variables to start a process with; none where Chromium's SwiftShader is not found. */
export function vulkanEnvironment(): Record<string, string> {
  const found = libraries();
  if (found === undefined) return {};
  const variables: Record<string, string> = {
    VK_ICD_FILENAMES: process.env.VK_ICD_FILENAMES || `${found}/${DRIVER}`,
  };
  if (!existsSync(`${found}/${LOADER}`)) return variables;
  // The loader alone in a folder: Chromium's other libraries are not meant for other programs.
  const folder = resolve(FOLDER);
  mkdirSync(folder, { recursive: true });
  if (
    !existsSync(`${folder}/${LOADER}`) ||
    realpathSync(`${folder}/${LOADER}`) !== realpathSync(`${found}/${LOADER}`)
  ) {
    rmSync(`${folder}/${LOADER}`, { force: true });
    symlinkSync(`${found}/${LOADER}`, `${folder}/${LOADER}`);
  }
  variables.LD_LIBRARY_PATH = [folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(":");
  return variables;
}
