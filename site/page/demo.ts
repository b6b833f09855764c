// The first screen: the tagger that comes with the page, or the model that the address names, and texts to try.

import type { HeldOut } from "../worker/messages.ts";
import { Asking, aboutModel } from "./asking.ts";
import { byId, say, show } from "./dom.ts";
import { readShared, sharedAddress } from "./share.ts";
import { several } from "./words.ts";

const TEXTS = [
  "a poet who wrote about birds and the rivers of Spain",
  "a port city on the coast of Spain",
  "a small yellow bird that lives in the mountains of Asia",
  "German physicist who studied the structure of the atom",
  "a stringed instrument played with a bow",
  "soup made of fish and vegetables",
  "fever and pain of the joints caused by a virus",
];
/** The page that may fetch a model from another place. */
const SHARED_PAGE = "shared.html";

/** A file beside the page that is kept gzipped, unpacked. */
async function unpacked(name: string): Promise<Blob> {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok || response.body === null)
    throw new Error(`${name}: found status ${response.status}, expected the file beside the page`);
  return await new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).blob();
}

export function startDemo(): void {
  const { text, model: address } = readShared(location.hash, location.href);
  const elsewhere = address !== undefined && new URL(address).origin !== location.origin;
  if (elsewhere && !location.pathname.endsWith(SHARED_PAGE)) {
    location.replace(new URL(`${SHARED_PAGE}${location.hash}`, location.href));
    return;
  }
  const problem = byId("demo-problem", HTMLElement);
  const refuse = (message: string): void => show(problem, message);
  const asking = new Asking("demo-", {
    onRefused: refuse,
    describe: (info) => {
      if (info === undefined) return "";
      if (address !== undefined) return aboutModel(info);
      return `A tagger of ${several(info.labels, "label")}, trained on ${several(info.points, "dictionary definition")} (WordNet).`;
    },
  });
  if (text !== undefined) asking.text = text;
  const failed = (error: unknown): void => refuse((error as Error).message);
  (address === undefined ? loadTagger(asking) : loadFrom(asking, address)).catch(failed);

  let next = 0;
  byId("demo-another", HTMLButtonElement).addEventListener("click", () => {
    next = (next + 1) % TEXTS.length;
    asking.text = TEXTS[next];
  });
  byId("demo-share", HTMLButtonElement).addEventListener("click", async () => {
    const link = sharedAddress(location.href, { text: asking.text, model: address });
    history.replaceState(null, "", link);
    const copied = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    );
    say(
      byId("demo-shared", HTMLElement),
      copied ? "Copied: it opens this text." : "The address of this page opens this text.",
    );
  });
}

/** First the model, which answers at once; then the state that lessons need. */
async function loadTagger(asking: Asking): Promise<void> {
  const [content, held] = await Promise.all([unpacked("tagger.safetensors.gz"), heldOut()]);
  asking.load({ name: "the tagger", content }, { held });
  asking.send({ kind: "state", file: "tagger.state", source: await unpacked("tagger.state.gz") });
}

async function heldOut(): Promise<HeldOut> {
  return await (await fetch(new URL("tagger.json", import.meta.url))).json();
}

async function loadFrom(asking: Asking, address: string): Promise<void> {
  const response = await fetch(address).catch(() => undefined);
  if (!response?.ok)
    throw new Error(
      `${address}: found ${response ? `status ${response.status}` : "no answer"}, expected a model that may be fetched from here`,
    );
  asking.load({ name: address.slice(address.lastIndexOf("/") + 1) || address, content: await response.blob() });
}
