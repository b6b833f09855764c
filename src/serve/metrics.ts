// GET /metrics: counts and latencies in Prometheus' text format.

import type { Project } from "./project.ts";

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface RouteCounts {
  readonly statuses: Map<number, number>;
  /** How many took at most so long, by bucket; the last one has no bound. */
  readonly seconds: number[];
  sum: number;
}

const GAUGES = {
  requests_in_flight: "Requests whose answer is not sent.",
  inputs_waiting: "Inputs in the queue.",
  large_requests_waiting: "Large requests in line.",
  held_bytes: "Bytes that large requests hold.",
};

const PROMISES = {
  observed: "Recall or precision on documents that were taught.",
  low: "The least it may be, with 95 % confidence.",
  high: "The most it may be, with 95 % confidence.",
  holds: "0 once a promise is not kept any more.",
};

type Gauges = Readonly<Record<keyof typeof GAUGES, number>>;

/** `{name="value",...}` */
function labelSet(values: object): string {
  const escaped = (value: unknown): string =>
    String(value).replace(/["\\\n]/g, (mark) => (mark === "\n" ? "\\n" : `\\${mark}`));
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`;
}

export class ServerMetrics {
  readonly #begin = performance.now();
  readonly #routes = new Map<string, RouteCounts>();
  readonly #gauges: () => Gauges;
  #inputs = 0;
  #dropped = 0;

  constructor(gauges: () => Gauges) {
    this.#gauges = gauges;
  }

  get uptimeSeconds(): number {
    return (performance.now() - this.#begin) / 1000;
  }

  request(route: string, status: number, seconds: number): void {
    const counted = this.#routes.get(route) ?? { statuses: new Map(), seconds: BUCKETS.map(() => 0).concat(0), sum: 0 };
    this.#routes.set(route, counted);
    counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1);
    const found = BUCKETS.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? BUCKETS.length : found;
    counted.seconds[bucket]++;
    counted.sum += seconds;
  }

  predicted(inputs: number): void {
    this.#inputs += inputs;
  }

  dropped(): void {
    this.#dropped++;
  }

  text(projects: readonly Project[]): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string): number =>
      lines.push(`# HELP mlgpf_${name} ${help}`, `# TYPE mlgpf_${name} ${type}`);
    const single = (name: string, type: string, help: string, value: number): void => {
      family(name, type, help);
      lines.push(`mlgpf_${name} ${value}`);
    };
    family("requests_total", "counter", "Requests answered, by route and status.");
    for (const [route, { statuses }] of this.#routes)
      for (const [status, count] of statuses)
        lines.push(`mlgpf_requests_total{route="${route}",status="${status}"} ${count}`);
    family("request_duration_seconds", "histogram", "From the head of a request to its answer.");
    for (const [route, { seconds, sum }] of this.#routes) {
      let total = 0;
      seconds.forEach((count, i) => {
        total += count;
        const bound = BUCKETS[i] ?? "+Inf";
        lines.push(`mlgpf_request_duration_seconds_bucket{route="${route}",le="${bound}"} ${total}`);
      });
      lines.push(`mlgpf_request_duration_seconds_sum{route="${route}"} ${sum}`);
      lines.push(`mlgpf_request_duration_seconds_count{route="${route}"} ${total}`);
    }
    single("inputs_total", "counter", "Texts and feature rows predicted.", this.#inputs);
    single("answers_dropped_total", "counter", "Answers that their client did not take.", this.#dropped);
    for (const [name, value] of Object.entries(this.#gauges()))
      single(name, "gauge", GAUGES[name as keyof Gauges], value);
    single("uptime_seconds", "gauge", "Since the server started.", this.uptimeSeconds);
    family("model_labels", "gauge", "Labels that a model knows.");
    for (const { id, model } of projects) lines.push(`mlgpf_model_labels${labelSet({ project: id })} ${model.labels}`);
    family("model_info", "gauge", "Kind of each model.");
    for (const { id, model } of projects)
      lines.push(`mlgpf_model_info${labelSet({ project: id, ...model.tagger.info })} 1`);
    const watched = projects.flatMap(({ id: project, learning }) =>
      (learning?.promises ?? []).map((status) => ({ project, ...status })),
    );
    for (const [name, help] of Object.entries(watched.length > 0 ? PROMISES : {})) {
      family(`promise_${name}`, "gauge", help);
      for (const { project, promise, target, ...status } of watched) {
        const value = Number(status[name as keyof typeof PROMISES]);
        lines.push(`mlgpf_promise_${name}${labelSet({ project, promise, target })} ${value}`);
      }
    }
    return `${lines.join("\n")}\n`;
  }
}
