// The rooms of src/ as the table of ARCHITECTURE.md has them, beside what the files really import.

import { dirname, join } from "node:path/posix";

/** A room: a folder of src/, or a file beside them. */
export interface Room {
  name: string;
  /** What it may import: rooms, files of other rooms without their ending, packages, or "node:" for Node's modules. */
  allowed: string[];
}

/** Path from the root of the repository to the text of the file. */
export type Sources = ReadonlyMap<string, string>;

const ROW = /^\| `src\/([\w.-]+)\/?` \|[^|]*\|([^|]*)\|$/gm;
const COMMENT = /^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;
const IMPORT = /(?:\bfrom |\bimport |\bimport\()"([^"\n]+)"/g;

/** The rows of the table whose first cell is a room of src/, from the bottom layer up. */
export function roomsOf(document: string): Room[] {
  return [...document.matchAll(ROW)].map(([, name, cell]) => ({
    name: name as string,
    allowed: [...(cell as string).matchAll(/`([^`]+)`/g)].map(([, item]) => item as string),
  }));
}

const roomOf = (path: string): string => path.split("/")[1];

/** What a file imports, types too: paths of files, and names of packages as they are written. */
function importsOf(path: string, text: string): string[] {
  return [...text.replace(COMMENT, "").matchAll(IMPORT)].map(([, name]) =>
    (name as string).startsWith(".") ? join(dirname(path), name as string) : (name as string),
  );
}

/** Each file with the files and packages it imports. */
export function graphOf(sources: Sources): Map<string, string[]> {
  return new Map([...sources].map(([path, text]) => [path, importsOf(path, text)]));
}

/** The entry of the table that lets a room import this, if there is one. */
function permission({ allowed }: Room, imported: string): string | undefined {
  if (!imported.startsWith("src/"))
    return allowed.find((item) => item === (imported.startsWith("node:") ? "node:" : imported));
  const file = imported.slice("src/".length).replace(/\.ts$/, "");
  return allowed.find((item) => item === roomOf(imported) || item === file);
}

/** A chain of files that import one another and ends where it begins. */
function circleIn(graph: ReadonlyMap<string, string[]>): string[] | undefined {
  const finished = new Set<string>();
  const visit = (path: string, chain: string[]): string[] | undefined => {
    if (chain.includes(path)) return [...chain.slice(chain.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next, [...chain, path]);
      if (circle) return circle;
    }
    finished.add(path);
    return undefined;
  };
  for (const path of graph.keys()) {
    const circle = visit(path, []);
    if (circle) return circle;
  }
  return undefined;
}

/** The table by itself: a room stands below what it may import, so that rooms cannot import one another. */
function faultsOfTable(rooms: Room[]): string[] {
  const position = new Map(rooms.map(({ name }, index) => [name, index]));
  return rooms.flatMap(({ name, allowed }, index) =>
    allowed
      .filter((item) => (position.get(item.split("/")[0]) ?? -1) >= index)
      .map((item) => `ARCHITECTURE.md lets ${name} import ${item}, expected only rooms above it in the table`),
  );
}

/** What is wrong, in one sentence each. */
export function faultsOf(rooms: Room[], sources: Sources): string[] {
  const faults = faultsOfTable(rooms);
  const graph = graphOf(sources);
  const used = new Set<string>();
  for (const [path, imports] of graph) {
    const room = rooms.find(({ name }) => name === roomOf(path));
    used.add(roomOf(path));
    if (!room) {
      faults.push(`${path} is in a room that the table of ARCHITECTURE.md does not have: src/${roomOf(path)}`);
      continue;
    }
    for (const imported of imports) {
      if (imported.startsWith(`src/${room.name}/`)) continue;
      const item = permission(room, imported);
      if (item) used.add(`${room.name} ${item}`);
      else
        faults.push(
          `${path} imports ${imported}, but ARCHITECTURE.md lets ${room.name} import only ${room.allowed.join(", ") || "nothing"}`,
        );
    }
  }
  for (const { name, allowed } of rooms) {
    if (!used.has(name)) faults.push(`ARCHITECTURE.md has a room src/${name}, which is not there`);
    else
      for (const item of allowed)
        if (!used.has(`${name} ${item}`))
          faults.push(`ARCHITECTURE.md lets ${name} import ${item}, which no file of it does`);
  }
  const circle = circleIn(graph);
  if (circle) faults.push(`files import one another in a circle: ${circle.join(" -> ")}`);
  return faults;
}
