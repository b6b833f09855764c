// The shape of Annif's REST interface: what its clients send, and what they read.

import { describe, expect, test } from "vitest";
import { createHandler, type IndexedDocument, type Project, readSubjects } from "../../src/serve/index.ts";
import { ask, wordsOf, wordTagger } from "./support.ts";

const table = [
  "<http://example.org/cats>\tcats\t599.75",
  "<http://example.org/boats>\tboats",
  "http://example.org/old",
];
const csv = [
  "uri,label_en,label_fi,notation",
  "http://example.org/cats,cats,kissat,599.75",
  'http://example.org/boats,"boats, ""small""",veneet,',
].join("\n");

function project(id: string, given: Partial<Project> = {}): Project {
  const model = { tagger: wordTagger(), labels: 3, modified: new Date("2026-01-02T03:04:05Z") };
  return { id, name: `The ${id}`, language: "en", model, ...given };
}

const form = (path: string, fields: Record<string, string>): Request =>
  new Request(`http://localhost${path}`, { method: "POST", body: new URLSearchParams(fields) });
const get = (path: string): Request => new Request(`http://localhost${path}`);

describe("about the service", () => {
  const handler = createHandler([project("first"), project("second", { language: "fi" })]);
  const read = async (path: string): Promise<unknown> => (await handler(get(path))).json();

  test("what it is, with a slash at the end or without", async () => {
    for (const path of ["/v1", "/v1/"])
      expect(await read(path)).toEqual({
        title: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+/),
      });
  });

  test("its projects, all and one", async () => {
    const first = {
      project_id: "first",
      name: "The first",
      language: "en",
      backend: { backend_id: "mlgpf" },
      is_trained: true,
      modification_time: "2026-01-02T03:04:05.000Z",
      vocab: { vocab_id: "first", languages: ["en"], size: 3, loaded: true },
      vocab_language: "en",
    };
    const { projects } = (await read("/v1/projects")) as {
      projects: { project_id: string; language: string }[];
    };
    expect(projects[0]).toEqual(first);
    expect(projects.map(({ project_id, language }) => [project_id, language])).toEqual([
      ["first", "en"],
      ["second", "fi"],
    ]);
    for (const path of ["/v1/projects/first", "/v1/projects/first/"]) expect(await read(path)).toEqual(first);
  });

  test("its vocabularies", async () => {
    const { vocabs } = (await read("/v1/vocabs")) as { vocabs: unknown[] };
    expect(vocabs[1]).toEqual({ vocab_id: "second", languages: ["fi"], size: 3, loaded: true });
  });

  test("each model has a path of its own", async () => {
    for (const id of ["first", "second"])
      expect((await handler(ask({ text: "a" }, `/predict/${id}`))).status).toBe(200);
  });
});

describe("suggestions", () => {
  const suggest = async (
    fields: Record<string, string>,
    given: Partial<Project> = {},
  ): Promise<{ results: { uri: string; label: string; notation: string | null; score: number }[] }> => {
    const response = await createHandler([project("p", given)])(form("/v1/projects/p/suggest", fields));
    expect(response.status).toBe(200);
    return await response.json();
  };

  test("are addresses, names, notations and scores; fields that nobody knows are passed over", async () => {
    const { results } = await suggest({ text: "x y", metadata_title: "a title", project: "p" });
    expect(results).toEqual([
      { uri: "x", label: "x", notation: null, score: 0.5 },
      { uri: "y", label: "y", notation: null, score: 0.25 },
    ]);
  });

  test("ten at most unless a limit is given, and none below a threshold", async () => {
    const text = "a b c d e f g h i j k l m";
    const count = async (fields: object): Promise<number> => (await suggest({ text, ...fields })).results.length;
    expect(await count({})).toBe(10);
    expect(await count({ limit: "0" })).toBe(0);
    expect(await count({ limit: "12" })).toBe(12);
    expect(await count({ threshold: "0.2" })).toBe(2);
    expect(await count({ threshold: "0.2", limit: "1" })).toBe(1);
  });

  test("go by the label file, whatever the model calls a label", async () => {
    const subjects = readSubjects(table.join("\n"), "table.tsv");
    const text = "http://example.org/cats boats 599.75 <http://example.org/old> dogs";
    expect((await suggest({ text }, { subjects })).results.map(({ score: _, ...rest }) => rest)).toEqual([
      { uri: "http://example.org/cats", label: "cats", notation: "599.75" },
      { uri: "http://example.org/boats", label: "boats", notation: null },
      { uri: "http://example.org/cats", label: "cats", notation: "599.75" },
      { uri: "http://example.org/old", label: "http://example.org/old", notation: null },
      { uri: "dogs", label: "dogs", notation: null },
    ]);
  });

  test("are named in the language that was asked for", async () => {
    const subjects = readSubjects(`\ufeff${csv}\r\n`, "table.csv");
    const names = async (fields: object): Promise<string[]> =>
      (await suggest({ text: "cats veneet", ...fields }, { subjects })).results.map(({ label }) => label);
    expect(await names({})).toEqual(["cats", 'boats, "small"']);
    expect(await names({ language: "fi" })).toEqual(["kissat", "veneet"]);
  });

  test("for up to 32 documents at once, with their ids", async () => {
    const handler = createHandler([project("p")]);
    const documents = [
      { document_id: "one", text: "x y" },
      { text: "z", metadata: { title: "t" } },
    ];
    const response = await handler(ask({ documents }, "/v1/projects/p/suggest-batch?limit=1&threshold=0.1"));
    expect(await response.json()).toEqual([
      { results: [{ uri: "x", label: "x", notation: null, score: 0.5 }], document_id: "one" },
      { results: [{ uri: "z", label: "z", notation: null, score: 0.5 }], document_id: null },
    ]);
    const full = { documents: new Array(32).fill({ text: "x" }) };
    expect((await handler(ask(full, "/v1/projects/p/suggest-batch"))).status).toBe(200);
    expect(await (await handler(ask({ documents: [] }, "/v1/projects/p/suggest-batch"))).json()).toEqual([]);
  });
});

describe("refusals are problems in one sentence", () => {
  const batch = (body: unknown, query = ""): Request => ask(body, `/v1/projects/p/suggest-batch${query}`);
  const one = "/v1/projects/p/suggest";
  const cases: [name: string, request: () => Request, status: number, sentence: RegExp][] = [
    ["no text", () => form(one, { limit: "1" }), 400, /^text: found nothing/],
    ["half a limit", () => form(one, { text: "a", limit: "1.5" }), 400, /^limit: found "1.5"/],
    ["an empty limit", () => form(one, { text: "a", limit: "" }), 400, /^limit: found ""/],
    ["a threshold of 2", () => form(one, { text: "a", threshold: "2" }), 400, /^threshold: found 2/],
    ["a threshold in words", () => form(one, { text: "a", threshold: "x" }), 400, /^threshold: found "x"/],
    ["another language", () => form(one, { text: "a", language: "sv" }), 400, /^language: found "sv", expected en/],
    ["JSON for a form", () => ask({ text: "a" }, one), 415, /expected application\/x-www-form-urlencoded/],
    ["an unknown project", () => form("/v1/projects/q/suggest", { text: "a" }), 404, /^Project 'q' not found/],
    ["the same when asked about", () => get("/v1/projects/q"), 404, /^Project 'q' not found/],
    [
      "33 documents",
      () => batch({ documents: new Array(33).fill({ text: "a" }) }),
      400,
      /33 of them, expected at most 32/,
    ],
    ["no documents", () => batch({}), 400, /^documents: found nothing/],
    [
      "a document without text",
      () => batch({ documents: [{ document_id: "a" }] }),
      400,
      /^document 0: found nothing as text/,
    ],
    ["an id that is none", () => batch({ documents: [{ text: "a", document_id: 5 }] }), 400, /5 as document_id/],
    [
      "an unknown query",
      () => batch({ documents: [] }, "?top=1"),
      400,
      /"top", expected limit or threshold or language/,
    ],
    ["GET suggest", () => get(one), 405, /expected POST/],
    ["the language of a text", () => ask({ text: "a" }, "/v1/detect-language"), 501, /language/],
    ["learning where it is off", () => ask([], "/v1/projects/p/learn"), 403, /not configured to allow learning/],
    ["forgetting where it is off", () => ask([], "/v1/projects/p/forget"), 403, /not configured/],
    ["documents where it is off", () => get("/v1/projects/p/documents"), 403, /not configured/],
    ["another path", () => get("/v1/projects/p/nothing"), 404, /found the path/],
  ];
  for (const [name, request, status, sentence] of cases) {
    test(name, async () => {
      const response = await createHandler([project("p")])(request());
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      const { title, detail, ...rest } = (await response.json()) as Record<string, string>;
      expect(rest).toEqual({ type: "about:blank", status });
      expect(title).toMatch(/^[A-Z]/);
      expect(detail).toMatch(sentence);
      expect(detail).not.toContain("\n");
    });
  }
});

describe("learning", () => {
  const learned: IndexedDocument[] = [];
  const forgotten: string[] = [];
  const handler = createHandler([
    project("p", {
      learning: {
        status: { documents: 3 },
        documentIds: new Set(["a", "b", "c"]),
        learn: async (documents) => {
          learned.push(...documents);
        },
        forget: async (ids) => {
          forgotten.push(...ids);
        },
        query: async (inputs, top) =>
          inputs
            .map(({ text }, row) => ({
              row,
              value: 1 / 3,
              variance: 1,
              uncertainty: 2,
              labels: wordsOf(text, { topK: 1 }),
            }))
            .reverse()
            .slice(0, top),
      },
    }),
  ]);
  const teach = (body: unknown): Promise<Response> => handler(ask(body, "/v1/projects/p/learn"));

  test("hands the documents to the project and says 204 when it is done", async () => {
    const documents = [
      { text: "a", subjects: [{ uri: "http://example.org/cats", label: "cats" }, { label: "boats" }] },
      { text: "b", subjects: [], metadata: { title: "t" } },
    ];
    const response = await teach(documents);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(learned).toEqual([documents[0], { text: "b", subjects: [] }]);
  });

  test("takes a document_id of null for none", async () => {
    expect((await teach([{ document_id: null, text: "n", subjects: [{ uri: "x" }] }])).status).toBe(204);
    expect(learned.at(-1)).toEqual({ text: "n", subjects: [{ uri: "x" }] });
  });

  test("forgets by ids, lists them, and says what it is", async () => {
    expect((await handler(ask(["a", "b"], "/v1/projects/p/forget"))).status).toBe(204);
    expect(forgotten).toEqual(["a", "b"]);
    for (const [body, said] of [
      [["a", 5], /id 1: found 5/],
      [[""], /id 0: found ""/],
      [{}, /found an object, expected \["document_id"\]/],
    ] as const) {
      const refused = await handler(ask(body, "/v1/projects/p/forget"));
      expect(refused.status).toBe(400);
      expect(((await refused.json()) as { detail: string }).detail).toMatch(said);
    }
    const read = async (path: string): Promise<unknown> => (await handler(get(path))).json();
    expect(await read("/v1/projects/p/documents")).toEqual({
      total: 3,
      offset: 0,
      document_ids: ["a", "b", "c"],
    });
    expect(await read("/v1/projects/p/documents?offset=1&limit=1")).toMatchObject({ document_ids: ["b"] });
    for (const query of ["limit=-1", "limit=", "offset=x", "from=1", "limit=10001"])
      expect((await handler(get(`/v1/projects/p/documents?${query}`))).status).toBe(400);
    expect(await read("/v1/projects/p")).toMatchObject({ learning: { documents: 3 } });
  });

  test("says from which documents it would learn most", async () => {
    const documents = [{ document_id: "one", text: "x" }, { text: "y" }];
    const response = await handler(ask({ documents, top: 2 }, "/v1/projects/p/query"));
    const about = { value: 0.333333, variance: 1, uncertainty: 2 };
    const result = (uri: string): object => ({ uri, label: uri, notation: null, score: 0.5 });
    expect(await response.json()).toEqual([
      { document_id: null, document: 1, ...about, results: [result("y")] },
      { document_id: "one", document: 0, ...about, results: [result("x")] },
    ]);
    for (const body of [{}, { documents: ["x"] }, { documents: [], top: 0 }, []])
      expect((await handler(ask(body, "/v1/projects/p/query"))).status).toBe(400);
  });

  test("refuses what is no document, and learns none of the others", async () => {
    const good = { text: "a", subjects: [{ uri: "x" }] };
    for (const bad of [{ text: 1, subjects: [] }, { text: "a" }, { text: "a", subjects: ["x"] }, null]) {
      const before = learned.length;
      const response = await teach([good, bad]);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("document 1: found");
      expect(learned.length).toBe(before);
    }
    for (const bad of [{ uri: 5 }, { uri: "" }, {}, { label: null }])
      expect((await teach([{ text: "a", subjects: [bad] }])).status).toBe(400);
    expect((await teach({ documents: [] })).status).toBe(400);
  });
});

describe("label files", () => {
  test("say where they are wrong", () => {
    const cases: [text: string, message: string][] = [
      ["", "f: found no subjects, expected lines of address, label and notation"],
      ["uri,label\n", "f: found no subjects"],
      ["a\tb\n\tc", 'f, line 2: found " c", expected address, label and notation'],
      ['a,"b', "f, line 1: found a quoted field that does not end"],
      ['a,"b"c', "f, line 1: found text after a closing quote"],
      ["just words", 'f, line 1: found "just words"'],
    ];
    for (const [text, message] of cases) expect(() => readSubjects(text, "f")).toThrow(message);
  });

  test("take an address for an address even where another subject has it as its name", () => {
    const subjects = readSubjects("a\tb\nb\tc\nc\td\ta", "f");
    expect(["a", "b", "c", "d"].map((label) => subjects.get(label)?.uri)).toEqual(["a", "b", "c", "c"]);
    expect(subjects.get("e")).toBe(undefined);
  });
});
