// Files that are dropped or chosen, told apart: models, data to learn from, texts to label, notes in Markdown.

import { byId } from "./dom.ts";
import { type NotesFile, notesAmong, notesFile, type PlacedFile } from "./notes.ts";
import { readNoteSettings } from "./settings.ts";

/** A safetensors file starts with the length of its header, then the header's brace. */
export async function isModel(file: Blob): Promise<boolean> {
  const start = new Uint8Array(await file.slice(0, 9).arrayBuffer());
  const lengthIsSmall = start.subarray(4, 8).every((byte) => byte === 0);
  return start.length === 9 && lengthIsSmall && start[8] === "{".charCodeAt(0);
}

export interface FileTakers {
  /** To learn from. */
  data(file: File): void;
  /** To label. */
  texts(file: File): void;
  /** Notes to learn from, or to label. */
  notes(notes: NotesFile, toLabel: boolean): void;
  model(file: File): void;
  problem(message: string, toLabel: boolean): void;
}

/** The files that were dropped or chosen, and the name of the folder they are from. */
interface Given {
  files: readonly PlacedFile[];
  folder?: string;
}

/** Files of an input; those of a chosen folder with their paths in it. */
function chosen(input: HTMLInputElement): Given {
  const files = [...(input.files ?? [])];
  const folder = files[0]?.webkitRelativePath.split("/")[0];
  const path = (file: File): string => file.webkitRelativePath.replace(/^[^/]*\//, "") || file.name;
  return { files: files.map((file) => ({ path: path(file), file })), ...(folder && { folder }) };
}

/** Files of a drop, with those of folders. Called while the drop is heard: its items are gone afterwards. */
async function dropped(transfer: DataTransfer): Promise<Given> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  // Without entries the files are all there is.
  const plain = [...transfer.files].map((file) => ({ path: file.name, file }));
  const folder = entries.find(({ isDirectory }) => isDirectory);
  if (folder === undefined) return { files: plain };
  const below = entries.length === 1 ? await entriesOf(folder as FileSystemDirectoryEntry) : entries;
  return { files: (await Promise.all(below.map((entry) => filesOf(entry)))).flat(), folder: folder.name };
}

async function filesOf(entry: FileSystemEntry, above = ""): Promise<PlacedFile[]> {
  const path = `${above}${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file }];
  }
  const inside = await entriesOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(inside.map((each) => filesOf(each, `${path}/`)))).flat();
}

/** A reader gives some at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

export function listenForFiles(takers: FileTakers): void {
  const drop = byId("drop", HTMLElement);
  const take = async (given: Promise<Given>, toLabel: boolean): Promise<void> => {
    try {
      const { files, folder } = await given;
      const notes = notesAmong(files);
      if (notes.length > 0 || folder !== undefined) return await takeNotes(notes, folder, toLabel);
      const [first, ...more] = files;
      if (first === undefined) return;
      if (more.length > 0) throw new Error(`found ${files.length} files, expected one, or notes in Markdown`);
      const { file } = first;
      const model = await isModel(file).catch(() => {
        throw new Error(`${file.name}: found something that cannot be read, expected a file`);
      });
      if (model) takers.model(file);
      else if (toLabel) takers.texts(file);
      else takers.data(file);
    } catch (error) {
      takers.problem((error as Error).message, toLabel);
    }
  };
  const takeNotes = async (notes: PlacedFile[], folder: string | undefined, toLabel: boolean): Promise<void> => {
    if (notes.length === 0) throw new Error(`${folder}: found no notes, expected a folder with Markdown files (*.md)`);
    takers.notes(await notesFile(folder ?? "notes", notes, readNoteSettings(toLabel)), toLabel);
  };
  for (const id of ["file", "folder", "texts"]) {
    const input = byId(id, HTMLInputElement);
    input.addEventListener("change", () => {
      void take(Promise.resolve(chosen(input)), id === "texts");
      // So that choosing the same file again, once mended, is a change too.
      input.value = "";
    });
  }
  // Anywhere on the page: a file that misses the box must not open in place of the page.
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) drop.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event) || event.dataTransfer === null) return;
    event.preventDefault();
    drop.classList.remove("over");
    const toLabel = event.target instanceof Element && event.target.closest("#label") !== null;
    void take(dropped(event.dataTransfer), toLabel);
  });
}
