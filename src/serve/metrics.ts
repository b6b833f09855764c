// What GET /metrics says, in Prometheus' text format.

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Histogram {
  /** How many took at most so long, by bucket; the last one has no bound. */
  counts: number[];
  sum: number;
}

/** The state of the server at the moment of asking. */
export interface Gauges {
  inFlight: number;
  waiting: number;
  largeWaiting: number;
  heldBytes: number;
  /** Name, labels, and what is known of each model. */
  models: readonly { id: string; labels: number; info: object }[];
}

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
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #latency = new Map<string, Histogram>();
  #inputs = 0;
  #dropped = 0;

  get uptimeSeconds(): number {
    return (performance.now() - this.#begin) / 1000;
  }

  /** Counts an answered request. */
  request(route: string, status: number, seconds: number): void {
    const statuses = this.#requests.get(route) ?? new Map<number, number>();
    this.#requests.set(route, statuses);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const histogram = this.#latency.get(route) ?? { counts: new Array(BUCKETS.length + 1).fill(0), sum: 0 };
    this.#latency.set(route, histogram);
    const found = BUCKETS.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? BUCKETS.length : found;
    histogram.counts[bucket] = (histogram.counts[bucket] as number) + 1;
    histogram.sum += seconds;
  }

  /** Counts predicted inputs. */
  predicted(inputs: number): void {
    this.#inputs += inputs;
  }

  /** Counts an answer that its client did not take. */
  dropped(): void {
    this.#dropped++;
  }

  text({ inFlight, waiting, largeWaiting, heldBytes, models }: Gauges): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string): number =>
      lines.push(`# HELP mlgpf_${name} ${help}`, `# TYPE mlgpf_${name} ${type}`);
    const single = (name: string, type: string, help: string, value: number): void => {
      family(name, type, help);
      lines.push(`mlgpf_${name} ${value}`);
    };
    family("requests_total", "counter", "Requests answered, by route and status.");
    for (const [route, statuses] of this.#requests)
      for (const [status, count] of statuses)
        lines.push(`mlgpf_requests_total{route="${route}",status="${status}"} ${count}`);
    family("request_duration_seconds", "histogram", "From the head of a request to its answer.");
    for (const [route, { counts, sum }] of this.#latency) {
      let total = 0;
      counts.forEach((count, i) => {
        total += count;
        const bound = BUCKETS[i] ?? "+Inf";
        lines.push(`mlgpf_request_duration_seconds_bucket{route="${route}",le="${bound}"} ${total}`);
      });
      lines.push(`mlgpf_request_duration_seconds_sum{route="${route}"} ${sum}`);
      lines.push(`mlgpf_request_duration_seconds_count{route="${route}"} ${total}`);
    }
    single("inputs_total", "counter", "Texts and feature rows predicted.", this.#inputs);
    single("answers_dropped_total", "counter", "Answers that their client did not take.", this.#dropped);
    single("requests_in_flight", "gauge", "Requests whose answer is not sent.", inFlight);
    single("inputs_waiting", "gauge", "Inputs in the queue.", waiting);
    single("large_requests_waiting", "gauge", "Large requests in line.", largeWaiting);
    single("held_bytes", "gauge", "Bytes that large requests hold.", heldBytes);
    single("uptime_seconds", "gauge", "Since the server started.", this.uptimeSeconds);
    family("model_labels", "gauge", "Labels that a model knows.");
    for (const { id, labels } of models)
      lines.push(`mlgpf_model_labels${labelSet({ project: id })} ${labels}`);
    family("model_info", "gauge", "What a model is.");
    for (const { id, info } of models) lines.push(`mlgpf_model_info${labelSet({ project: id, ...info })} 1`);
    return `${lines.join("\n")}\n`;
  }
}
