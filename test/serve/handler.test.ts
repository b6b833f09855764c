// The handler: every form of question, every refusal, and what /metrics says of them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withAbout } from "../../src/base/prediction.ts";
import { createHandler } from "../../src/serve/index.ts";
import { ask, gzip, wordsOf, wordTagger } from "./support.ts";

const features = { cat: 1.5, dog: 2 };

describe("questions", () => {
  const one = (input: Parameters<typeof wordsOf>[0], topK = 5, threshold = 0): unknown => ({
    labels: wordsOf(input, { topK, threshold }),
  });
  const cases: [name: string, body: unknown, answer: unknown, target?: string][] = [
    ["a text", { text: "x y z" }, one("x y z")],
    ["an empty text", { text: "" }, one("")],
    ["features", { features }, one(features)],
    [
      "features as two lists",
      { features: { indices: [3, 5], values: [1, 2] } },
      one({ indices: [3, 5], values: [1, 2] }),
    ],
    ["a feature called indices", { features: { indices: 1 } }, one({ indices: 1 })],
    ["texts", { texts: ["x y", "z"] }, { results: [one("x y"), one("z")] }],
    ["no texts", { texts: [] }, { results: [] }],
    ["a list", ["x y", { text: "z" }, { features }], { results: [one("x y"), one("z"), one(features)] }],
    ["topK and threshold", { text: "a b c d e f g", topK: 3, threshold: 0.2 }, one("a b c d e f g", 3, 0.2)],
    ["the same in the query", ["a b c d"], { results: [one("a b c d", 3, 0.2)] }, "/predict?topK=3&threshold=0.2"],
    [
      "a threshold without topK: all that reach it",
      { text: "a b c d e f g h", threshold: 0.005 },
      one("a b c d e f g h", 99, 0.005),
    ],
    ["the model's own threshold", { text: "a b c d e", threshold: "best" }, one("a b c d e", 99, 0.2)],
    [
      "each label's threshold in the query",
      ["a b c d e"],
      { results: [one("a b c d e", 99, 0.1)] },
      "/predict?threshold=label",
    ],
    ["why", { text: "a b", explain: 3 }, { labels: wordsOf("a b", { topK: 5, explain: 3 }) }],
    [
      "why, of twenty labels at most",
      ["a b"],
      { results: [{ labels: wordsOf("a b", { topK: 20, threshold: 0.1, explain: 1 }) }] },
      "/predict?explain=1&threshold=0.1",
    ],
    ["the body before the query", { text: "a b c", topK: 1 }, one("a b c", 1), "/predict?topK=2"],
    ["other scripts", { text: "日本語 ünï \u{1f600}" }, one("日本語 ünï \u{1f600}")],
  ];
  for (const [name, body, answer, target] of cases) {
    test(`${name}`, async () => {
      const response = await createHandler(wordTagger())(ask(body, target));
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toEqual(answer);
    });
  }

  test("probabilities keep six digits", async () => {
    const tagger = {
      labels: ["a"],
      predictMany: () => [[{ label: "a", probability: Math.PI / 10, sd: 1 / 3 }]],
    };
    const response = await createHandler(tagger)(ask({ text: "" }));
    expect(await response.json()).toEqual({ labels: [{ label: "a", probability: 0.314159, sd: 0.333333 }] });
  });

  test("says how much of an input the model knows, where it tells", async () => {
    const tagger = {
      labels: ["a"],
      predictMany: () => [withAbout([{ label: "a", probability: 0.5 }], 2 / 3)],
    };
    const response = await createHandler(tagger)(ask({ text: "x" }));
    expect(await response.json()).toEqual({ labels: [{ label: "a", probability: 0.5 }], known: 0.666667 });
  });

  test("the type of a body may have a charset", async () => {
    const handler = createHandler(wordTagger());
    for (const type of ["application/json; charset=utf-8", "Application/JSON"])
      expect((await handler(ask({ text: "x" }, "/predict", { "content-type": type }))).status).toBe(200);
  });

  test("lines in, lines out: one for each input, in order; empty lines are passed over", async () => {
    const handler = createHandler(wordTagger());
    for (const type of ["application/x-ndjson", "application/ndjson", "application/jsonl"]) {
      const body = '"x y"\n\n{"text": "z"}\r\n{"features": {"cat": 1}}';
      const response = await handler(ask(body, "/predict?topK=1", { "content-type": type }));
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/x-ndjson");
      const lines = (await response.text()).split("\n");
      expect(lines.pop()).toBe("");
      expect(lines.map((line) => JSON.parse(line))).toEqual([one("x y", 1), one("z", 1), one({ cat: 1 }, 1)]);
    }
    const empty = await handler(ask("\n", "/predict", { "content-type": "application/jsonl" }));
    expect([empty.status, await empty.text()]).toEqual([200, ""]);
    const wanted = await handler(ask(["x", "y"], "/predict", { accept: "application/x-ndjson" }));
    expect((await wanted.text()).split("\n").length).toBe(3);
  });

  test("a text as it is", async () => {
    const handler = createHandler(wordTagger());
    const type = { "content-type": "text/plain; charset=utf-8" };
    const response = await handler(ask('{"x y', "/predict?topK=1", type));
    expect(await response.json()).toEqual(one('{"x y', 1));
    expect(await (await handler(ask("", "/predict", type))).json()).toEqual(one(""));
  });

  test("gzip in", async () => {
    const handler = createHandler(wordTagger());
    const text = "x y ".repeat(2000).trim();
    const response = await handler(
      ask(await gzip(JSON.stringify({ text })), "/predict", { "content-encoding": "gzip" }),
    );
    expect(await response.json()).toEqual(one(text));
  });

  test("a long answer comes in pieces and is whole", async () => {
    const inputs = Array.from({ length: 900 }, (_, i) => `text${i} b c d e f`);
    const response = await createHandler(wordTagger())(ask(inputs));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const pieces: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    expect(pieces.length).toBeGreaterThan(2);
    const { results } = JSON.parse(await new Blob(pieces as BlobPart[]).text());
    expect(results).toEqual(inputs.map((input) => one(input)));
  });
});

describe("refusals are a status and one sentence", () => {
  const limits = { bodyBytes: 200, batch: 3 };
  const cases: [name: string, request: () => Request, status: number, sentence: RegExp][] = [
    ["no body", () => ask(""), 400, /found nothing/],
    ["broken JSON", () => ask('{"text": "a'), 400, /^the body: found "\{\\"text\\": \\"a", expected JSON/],
    ["bytes that are no UTF-8", () => ask(new Uint8Array([34, 255, 34])), 400, /not UTF-8/],
    ["a number", () => ask(17), 400, /found 17/],
    ["null", () => ask("null"), 400, /found null/],
    ["neither text nor features", () => ask({ topK: 3 }), 400, /neither text nor features/],
    ["both", () => ask({ text: "a", features }), 400, /both text and features/],
    ["texts and a text", () => ask({ texts: ["a"], text: "b" }), 400, /both texts and text/],
    ["texts that are none", () => ask({ texts: "a" }), 400, /^texts: found "a", expected a list/],
    ["a text that is none", () => ask({ text: 5 }), 400, /found 5 as text/],
    ["a text in the list that is none", () => ask(["a", null]), 400, /^input 1: found null/],
    [
      "an unknown key",
      () => ask({ text: "a", topk: 3 }),
      400,
      /the key "topk", expected text, features, vector, vectors, topK/,
    ],
    ["features that are none", () => ask({ features: 1 }), 400, /features 1, expected an object with numbers/],
    ["a feature that is no number", () => ask({ features: { a: "1" } }), 400, /value "1" of feature "a"/],
    ["lists that differ", () => ask({ features: { indices: [1], values: [] } }), 400, /1 indices with 0 values/],
    ["topK 0", () => ask({ text: "a", topK: 0 }), 400, /^topK: found 0/],
    ["topK in words", () => ask({ text: "a" }, "/predict?topK=three"), 400, /^topK: found NaN/],
    ["topK of nothing", () => ask({ text: "a" }, "/predict?topK="), 400, /^topK: found ""/],
    ["a threshold of 2", () => ask({ text: "a", threshold: 2 }), 400, /^threshold: found 2/],
    ["no number of words", () => ask({ text: "a", explain: "all" }), 400, /^explain: found "all", expected/],
    ["too many words", () => ask({ text: "a", explain: 21 }), 400, /^explain: found 21, expected .* 1 to 20/],
    ["why for too many labels", () => ask({ text: "a", explain: 1, topK: 21 }), 400, /^topK: found 21 with/],
    [
      "a threshold of another name",
      () => ask({ text: "a", threshold: "most" }),
      400,
      /^threshold: found "most", expected a number from 0 to 1, best or label/,
    ],
    ["an unknown query", () => ask({ text: "a" }, "/predict?k=1"), 400, /^the query: found "k"/],
    ["too many inputs", () => ask(["a", "b", "c", "d"]), 400, /4 inputs, expected at most 3/],
    ["too long a body", () => ask({ text: "a".repeat(200) }), 413, /more than 200 bytes/],
    ["what the tagger refuses", () => ask({ text: "refuse me" }), 400, /^input: found refuse me/],
    ["the same in a list", () => ask(["a", "refuse me"]), 400, /^input 1: input: found refuse me/],
    ["a page", () => ask("text=a", "/predict", { "content-type": "text/html" }), 415, /"text\/html"/],
    [
      "no type",
      () => {
        const request = ask({ text: "a" });
        request.headers.delete("content-type");
        return request;
      },
      415,
      /^content-type: found nothing, expected application\/json/,
    ],
    ["a packed body", () => ask("x", "/predict", { "content-encoding": "br" }), 415, /"br", expected gzip/],
    ["a body that is not packed", () => ask("x", "/predict", { "content-encoding": "gzip" }), 400, /gzip/],
    [
      "an infinite feature",
      () => ask('{"features": {"a": 1e400}}'),
      400,
      /found value Infinity of feature "a", expected a finite number/,
    ],
    [
      "a value that makes the numbers overflow",
      () => ask({ text: "overflow" }),
      400,
      /^the input: found values too large/,
    ],
    ["the same in a list", () => ask(["a", "overflow"]), 400, /^input 1: found values too large/],
    ["topK twice", () => ask({ text: "a" }, "/predict?topK=1&topK=2"), 400, /topK twice/],
    [
      "a line that is no JSON",
      () => ask('"a"\n{', "/predict", { "content-type": "application/x-ndjson" }),
      400,
      /^line 2: found "\{", expected JSON/,
    ],
    ["an unknown project", () => ask({ text: "a" }, "/predict/nobody"), 404, /'nobody' not found/],
    ["another path", () => ask({ text: "a" }, "/tag"), 404, /"\/tag", expected \/, \/health/],
    ["a path of Object", () => ask({ text: "a" }, "/constructor"), 404, /constructor/],
    ["GET /predict", () => new Request("http://localhost/predict"), 405, /found "GET", expected POST/],
    ["POST /health", () => ask("", "/health"), 405, /found "POST", expected GET, HEAD/],
  ];
  for (const [name, request, status, sentence] of cases) {
    test(name, async () => {
      const response = await createHandler(wordTagger(), limits)(request());
      const { error } = (await response.json()) as { error: string };
      expect(response.status).toBe(status);
      expect(error).toMatch(sentence);
      expect(error).not.toContain("\n");
      if (status === 405) expect(response.headers.get("allow")).toMatch(/^(POST|GET, HEAD)$/);
    });
  }

  test("no more labels than the limit, however they are asked for", async () => {
    const answers = async (limits: object, body: unknown): Promise<[number, string]> => {
      const response = await createHandler({ ...wordTagger(), labels: new Array(50) }, limits)(ask(body));
      return [response.status, await response.text()];
    };
    const ten = "a b c d e f g h i j";
    expect((await answers({ answerLabels: 20 }, { texts: [ten, ten], topK: 10 }))[0]).toBe(200);
    for (const body of [
      { texts: [ten, ten], topK: 11 },
      { texts: [ten, ten], topK: 99_999 },
      { texts: [ten, ten, ten], threshold: 0 },
      { texts: [ten, ten, ten], threshold: 0, topK: 10 },
    ]) {
      const [status, text] = await answers({ answerLabels: 20 }, body);
      expect(status).toBe(400);
      expect(text).toMatch(/the answer: found \d+ labels, expected at most 20: fewer inputs, a smaller topK/);
    }
    // What is found counts, not what could be.
    expect((await answers({ answerLabels: 20 }, { texts: [ten, ten, ten], threshold: 0.1 }))[0]).toBe(200);
  });

  test("a packed body may not be longer than others when it is unpacked", async () => {
    const bomb = await gzip(JSON.stringify({ text: " ".repeat(20_000_000) }));
    expect(bomb.length).toBeLessThan(100_000);
    const response = await createHandler(wordTagger())(ask(bomb, "/predict", { "content-encoding": "gzip" }));
    expect(response.status).toBe(413);
  });

  test("an answer that nobody takes is given up, and counts until then", async () => {
    const handler = createHandler(wordTagger(), { seconds: 0.3, requests: 1 });
    const response = await handler(ask(Array.from({ length: 900 }, (_, i) => `text${i} b c d e f`)));
    expect(response.status).toBe(200);
    expect((await handler(ask({ text: "a" }))).status).toBe(503);
    while ((await handler(ask({ text: "a" }))).status !== 200) await new Promise((done) => setTimeout(done, 5));
    await expect(response.text()).rejects.toThrow();
    const metrics = await (await handler(new Request("http://localhost/metrics"))).text();
    expect(metrics).toContain("mlgpf_answers_dropped_total 1\n");
    expect(metrics).toContain("mlgpf_held_bytes 0\n");
  });

  test.each([
    [{ texts: Array(17).fill("a"), explain: 1 }, /^the body: found 17 inputs with explain, expected at most 16/],
    [{ text: "a".repeat(70_000), explain: 1 }, /^the body: found \d+ bytes with explain, expected at most 65536/],
  ])("why is asked of little at once, %#", async (body, sentence) => {
    const response = await createHandler(wordTagger())(ask(body));
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toMatch(sentence);
  });

  test("any JSON and any bytes get an answer, never a fault", async () => {
    const handler = createHandler(wordTagger());
    const keys = fc.constantFrom("text", "texts", "features", "topK", "threshold", "indices", "values", "__proto__");
    const { body } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom("a b", 3, 0.5, -1, 1e300)),
      object: fc.dictionary(keys, tie("body"), { maxKeys: 3 }),
      body: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("object"), fc.array(tie("body"), { maxLength: 3 })),
    }));
    const bodies = fc.oneof(
      body.map((value) => JSON.stringify(value) ?? ""),
      fc.uint8Array({ maxLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (bytes) => {
        const response = await handler(ask(bytes));
        const answer = (await response.json()) as { error?: string };
        if (response.status === 200) return;
        expect(response.status).toBe(400);
        expect(answer.error).toMatch(/^.+: found .+, expected .+$/);
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test("a body that never ends is given up", async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: () => new Promise(() => {}),
      cancel: () => {
        cancelled = true;
      },
    });
    // Pages may send streams over HTTP/2 alone; a Request that carries one is enough here.
    const request = Object.defineProperty(ask({}), "body", { value: body });
    const response = await createHandler(wordTagger(), { seconds: 0.05 })(request);
    expect(response.status).toBe(408);
    expect(((await response.json()) as { error: string }).error).toContain("within 0.05 s");
    expect(cancelled).toBe(true);
  });

  test("a fault of the server is 500, told to its log and not to the client", async () => {
    const log = console.error;
    const logged: unknown[] = [];
    console.error = (error: unknown) => logged.push(error);
    try {
      const response = await createHandler(wordTagger())(ask({ text: "break" }));
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual({ error: "the server failed at this request" });
    } finally {
      console.error = log;
    }
    expect(String(logged)).toContain("a secret of the server");
  });

  test("limits that cannot be are refused when the handler is made", () => {
    for (const limits of [{ batch: 0 }, { answerLabels: 1.5 }, { seconds: 0 }, { bodyBytes: Number.NaN }])
      expect(() => createHandler(wordTagger(), limits)).toThrow(/^\w+: found/);
  });
});

describe("pages", () => {
  const get = (path: string, method = "GET"): Request => new Request(`http://localhost${path}`, { method });

  test("health, and HEAD without a body", async () => {
    const handler = createHandler(wordTagger());
    const health = (await (await handler(get("/health"))).json()) as Record<string, unknown>;
    expect(health.status).toBe("ok");
    expect(health.models).toEqual({ default: wordTagger().info });
    const head = await handler(get("/health", "HEAD"));
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
  });

  test("the first page says how to ask", async () => {
    const text = await (await createHandler(wordTagger())(get("/"))).text();
    expect(text).toContain("3 labels");
    expect(text).toContain("/predict -H 'content-type: application/json' -d '{\"text\"");
  });

  test("to a browser it is a page that asks nobody else", async () => {
    const request = new Request("http://localhost/", { headers: { accept: "text/html,*/*;q=0.8" } });
    const response = await createHandler(wordTagger())(request);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain("<textarea");
    expect(page).not.toMatch(/(?:src|href)=|https?:\/\/|innerHTML/);
  });

  test("metrics count requests by route and status, inputs, and latencies", async () => {
    const handler = createHandler(wordTagger());
    await handler(ask({ text: "a" }));
    await handler(ask(["a", "b", "c"]));
    await handler(ask("{"));
    await handler(get("/nowhere"));
    const response = await handler(get("/metrics"));
    expect(response.headers.get("content-type")).toContain("version=0.0.4");
    const text = await response.text();
    const value = (name: string): number => {
      const line = text.split("\n").find((each) => each.startsWith(`mlgpf_${name} `));
      return Number(line?.split(" ").at(-1) ?? Number.NaN);
    };
    expect(value('requests_total{route="/predict",status="200"}')).toBe(2);
    expect(value('requests_total{route="/predict",status="400"}')).toBe(1);
    expect(value('requests_total{route="other",status="404"}')).toBe(1);
    expect(value("inputs_total")).toBe(4);
    expect(value("requests_in_flight")).toBe(1);
    expect(value("inputs_waiting")).toBe(0);
    expect(value('model_labels{project="default"}')).toBe(3);
    expect(text).toContain('mlgpf_model_info{project="default",kernel="words",note="of \\"text\\"\\\\"} 1\n');
    expect(value("uptime_seconds")).toBeGreaterThan(0);
    expect(value('request_duration_seconds_count{route="/predict"}')).toBe(3);
    expect(value('request_duration_seconds_bucket{route="/predict",le="+Inf"}')).toBe(3);
    expect(value('request_duration_seconds_sum{route="/predict"}')).toBeGreaterThan(0);
    const buckets = [...text.matchAll(/bucket\{route="\/predict",le="[^"]+"\} (\d+)/g)].map((m) => Number(m[1]));
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    // Every sample belongs to a family that was announced.
    for (const line of text.trimEnd().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) mlgpf_\w+ .+|mlgpf_\w+(\{[^}]*\})? [-+.\de]+)$/);
  });
});
