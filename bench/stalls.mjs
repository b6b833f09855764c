// Loaded into a server before its program (node --import): how long its main thread was kept from its sockets, said on
// standard error when it ends. In processor time, so that a busy machine does not count: the longest stretch that the thread
// worked between two ticks of a timer. Linux alone tells it.

import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

const TICK_MILLISECONDS = 2;

const worked = () => Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[0]) / 1e6;

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: TICK_MILLISECONDS });
  let [last, stretches] = [worked(), []];
  const timer = setInterval(() => {
    const now = worked();
    stretches.push(now - last);
    last = now;
  }, TICK_MILLISECONDS);
  timer.unref();
  // Counted from when it is told: what came before was the start.
  process.on("SIGUSR2", () => {
    stretches = [];
    last = worked();
    delay.enable();
    delay.reset();
  });
  process.on("exit", () => {
    stretches.sort((a, b) => b - a);
    const found = {
      longest: stretches[0] ?? 0,
      second: stretches[1] ?? 0,
      above10: stretches.filter((stretch) => stretch > 10).length,
      wallLongest: delay.max / 1e6,
      wallP99: delay.percentile(99) / 1e6,
    };
    console.error(`stalls ${JSON.stringify(found)}`);
  });
}
