// What the tests use of vitest, on Deno's own test runner (deno.json maps "vitest" to this file).

import { JestAsymmetricMatchers, JestChaiExpect } from "@vitest/expect";
import * as chai from "chai";

chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

declare const Deno: {
  test: {
    (options: {
      name: string;
      fn: () => void | Promise<void>;
      ignore?: boolean;
      sanitizeOps: boolean;
      sanitizeResources: boolean;
    }): void;
    /** After the tests of a file. */
    afterAll(fn: () => void | Promise<void>): void;
  };
};

const path: string[] = [];

function group(name: string, body: () => void): void {
  path.push(name);
  body();
  path.pop();
}

/** A name for each case: `%s` and the like stand for its values, `$key` for what an object has there. */
function nameOf(name: string, values: readonly unknown[]): string {
  const [first] = values;
  let next = 0;
  return name
    .replaceAll(/%[so]/g, () => inShort(values[next++]))
    .replaceAll(/\$(\w+)/g, (_, key: string) => inShort((first as Record<string, unknown>)[key]));
}

const inShort = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The same body for each of some cases; a list is its arguments. */
const forEachCase =
  (register: (name: string, body: () => void | Promise<void>) => void) =>
  (cases: readonly unknown[]) =>
  (name: string, body: (...values: unknown[]) => void | Promise<void>): void => {
    for (const each of cases) {
      const values = Array.isArray(each) ? each : [each];
      register(nameOf(name, values), () => body(...values));
    }
  };

export const describe: typeof group & { each: ReturnType<typeof forEachCase> } = Object.assign(group, {
  each: forEachCase(group as (name: string, body: () => void | Promise<void>) => void),
});

type Body = () => void | Promise<void>;

/** What is done once, before the first test of a file that asks for it. */
const beginnings: (() => Promise<void>)[] = [];

export function beforeAll(work: Body): void {
  let done: Promise<void> | undefined;
  beginnings.push(() => {
    done ??= Promise.resolve(work());
    return done;
  });
}

export const afterAll = (work: Body): void => Deno.test.afterAll(work);

function register(name: string, body: Body, ignore: boolean): void {
  const fn = async (): Promise<void> => {
    for (const begin of beginnings) await begin();
    await body();
  };
  // A test may leave a worker that is still ending.
  Deno.test({ name: [...path, name].join(" > "), fn, ignore, sanitizeOps: false, sanitizeResources: false });
}

export const test: ((name: string, fn: Body) => void) & {
  skipIf(skip: boolean): (name: string, fn: Body) => void;
  each: ReturnType<typeof forEachCase>;
} = Object.assign((name: string, fn: Body) => register(name, fn, false), {
  skipIf: (skip: boolean) => (name: string, fn: Body) => register(name, fn, skip),
  each: forEachCase((name, fn) => register(name, fn, false)),
});

export const expect: (value: unknown, message?: string) => Chai.Assertion = chai.expect;
