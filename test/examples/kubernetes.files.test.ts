// The manifests for Kubernetes are what its published schema allows, and agree with themselves.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type IJob, Job } from "kubernetes-models/batch/v1";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Where all fields are: `.spec.template`. */
function placesOf(value: unknown, place = ""): string[] {
  if (!isFields(value)) return [];
  return Object.keys(value).flatMap((key) => [`${place}.${key}`, ...placesOf(value[key], `${place}.${key}`)]);
}

/** The same value; `asked` is told where a field is when it is read. */
function watched(value: unknown, asked: (place: string) => void, place = ""): unknown {
  if (!isFields(value)) return value;
  return new Proxy(value, {
    get(target, key) {
      asked(`${place}.${String(key)}`);
      return watched(Reflect.get(target, key), asked, `${place}.${String(key)}`);
    },
  });
}

/** Checks a job by the schema, which lets fields pass that it does not know: those that its check never reads. */
function check(manifest: IJob): void {
  const job = new Job(manifest);
  const unknown = new Set(placesOf(job));
  job.validate.call(watched(job, (place) => unknown.delete(place)) as Job);
  if (unknown.size > 0) throw new Error(`the schema knows nothing of ${[...unknown].join(", ")}`);
}

/** A manifest with another value at a place. */
function spoilt(name: string, path: string, value: unknown): IJob {
  const job = read(name);
  const keys = path.split(".");
  const last = keys.pop() as string;
  const parent = keys.reduce<unknown>((fields, key) => (fields as Fields)[key], job);
  (parent as Fields)[last] = value;
  return job;
}

const read = (name: string): IJob => parse(readFileSync(resolve("examples/kubernetes", name), "utf8")) as IJob;

describe.each(["train.yaml", "predict.yaml"])("kubernetes/%s", (name) => {
  test("is a job of the published schema", () => check(read(name)));

  test.each([
    ["spec.completions", "8", /completions must be integer/],
    ["spec.paralelism", 8, /\.spec\.paralelism/],
    ["spec.template.spec.containers.0.arguments", [], /containers\.0\.arguments/],
    ["spec.template.spec.containers.0.name", undefined, /name/],
    ["kind", "Jobs", /kind/],
  ])("with a fault at %s it is none", (path, value, message) => {
    expect(() => check(spoilt(name, path, value))).toThrow(message);
  });

  test("has as many parts as its command says, and the volumes that it mounts", () => {
    const { spec } = read(name);
    const pod = spec?.template.spec;
    const [container] = pod?.containers ?? [];
    expect(spec?.completionMode).toBe("Indexed");
    expect(container?.args?.join(" ")).toContain(`--shard auto/${spec?.completions}`);
    expect(container?.volumeMounts?.map((mount) => mount.name)).toEqual(pod?.volumes?.map((volume) => volume.name));
  });
});
