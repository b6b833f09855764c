// What the tests use of vitest, on Deno's own test runner (deno.json maps "vitest" to this file).

import { JestAsymmetricMatchers, JestChaiExpect } from "@vitest/expect";
import * as chai from "chai";

chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

declare const Deno: {
  test(options: {
    name: string;
    fn: () => void | Promise<void>;
    ignore?: boolean;
    sanitizeOps: boolean;
    sanitizeResources: boolean;
  }): void;
};

const path: string[] = [];

export function describe(name: string, body: () => void): void {
  path.push(name);
  body();
  path.pop();
}

type Body = () => void | Promise<void>;

function register(name: string, fn: Body, ignore: boolean): void {
  // A test may leave a worker that is still ending.
  Deno.test({ name: [...path, name].join(" > "), fn, ignore, sanitizeOps: false, sanitizeResources: false });
}

export const test: ((name: string, fn: Body) => void) & {
  skipIf(skip: boolean): (name: string, fn: Body) => void;
} = Object.assign((name: string, fn: Body) => register(name, fn, false), {
  skipIf: (skip: boolean) => (name: string, fn: Body) => register(name, fn, skip),
});

export const expect: (value: unknown, message?: string) => Chai.Assertion = chai.expect;
