// A worker in workerd: its modules from a folder, its answer to one request.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** The JSON that the worker answers; modules by name and kind, each a file of the folder, worker.js first. */
export async function answerOfWorkerd(
  folder: string,
  modules: Record<string, "esModule" | "wasm" | "data" | "text">,
): Promise<unknown> {
  const port = await freePort();
  const list = Object.entries(modules).map(
    ([name, kind]) => `(name = "${name}", ${kind} = embed "${name.replace("./", "")}")`,
  );
  writeFileSync(
    join(folder, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ],
);
const main :Workerd.Worker = (
  modules = [ ${list.join(", ")} ],
  compatibilityDate = "2026-01-01",
);
`,
  );
  const child = spawn("node_modules/.bin/workerd", ["serve", join(folder, "config.capnp")], {
    stdio: "inherit",
  });
  try {
    return await firstAnswer(`http://127.0.0.1:${port}/`);
  } finally {
    child.kill();
  }
}

async function firstAnswer(url: string): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(await response.text());
      return await response.json();
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}
