// Files that the page hands to the browser.

/** A file with its name. */
export interface NamedFile {
  name: string;
  content: Blob;
}

/** Hands a file to the browser to keep. */
export function download({ name, content }: NamedFile): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The name without the endings of data and model files. */
export const stemOf = (name: string): string =>
  name.replace(/(\.(jsonl?|ndjson|csv|tsv|txt|svm|gz|npy|npz|parquet|safetensors|bin))+$/i, "");
