import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { parseNames } from "../../src/data/names.ts";
import { readNames } from "../../src/io/names.ts";

const expected = { "http://x.org/1": ["cats", "felines"], "http://x.org/2": ["dogs"] };
const plain = (names: Record<string, string[]>): Record<string, string[]> => ({ ...names });

describe("names of labels", () => {
  test.each([
    ["TSV", "<http://x.org/1>\tcats\tfelines\r\n<http://x.org/2>\tdogs\t599.75\n"],
    ["CSV", 'uri,notation,label_en,label_la\nhttp://x.org/1,599,cats,felines\nhttp://x.org/2,,"dogs",\n'],
    [
      "JSONL",
      '{"label":"http://x.org/1","name":"cats","names":["felines"]}\n{"label":"http://x.org/2","names":["dogs"]}\n',
    ],
    [
      "Turtle",
      '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<http://x.org/1> skos:altLabel "felines" ; skos:prefLabel "cats"@en .\n<http://x.org/2> skos:prefLabel "dogs" .\n',
    ],
    [
      "RDF/XML",
      '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="http://x.org/1"><skos:altLabel>felines</skos:altLabel><skos:prefLabel xml:lang="en">cats</skos:prefLabel></skos:Concept><skos:Concept rdf:about="http://x.org/2"><skos:prefLabel>dogs</skos:prefLabel></skos:Concept></rdf:RDF>',
    ],
  ])("are read from %s", async (_, text) => {
    expect(plain(await parseNames(text, "names"))).toEqual(expected);
  });

  test("that cannot be read are refused with their line", async () => {
    await expect(parseNames("<http://x.org/1>\tcats\n<http://x.org/2>\n", "v.tsv")).rejects.toThrow(/v\.tsv.*line 2/);
    await expect(parseNames('{"label":"a","name":"b"}\n{"name":"c"}\n', "v.jsonl")).rejects.toThrow(/line 2/);
    await expect(parseNames("@prefix skos: <http", "v.ttl")).rejects.toThrow(/expected Turtle/);
    await expect(parseNames("\n", "v.tsv")).rejects.toThrow(/no names/);
  });

  test("that unpack to much more than their bytes are refused", async () => {
    const bomb = gzipSync(new Uint8Array(2 ** 26 + 1).fill(10));
    await expect(readNames(bomb)).rejects.toThrow(
      /^the names: found more than 67108864 bytes in \d{5}, expected a smaller vocabulary$/,
    );
  });

  test("of a label called like a property of objects are names like any other", async () => {
    expect(plain(await parseNames("__proto__\tcats\nconstructor\tdogs\n", "v"))).toEqual(
      Object.fromEntries([
        ["__proto__", ["cats"]],
        ["constructor", ["dogs"]],
      ]),
    );
  });
});
