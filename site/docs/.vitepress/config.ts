// The documents as a site, by VitePress: docs/ of the repository with a sidebar of its four kinds. `npm run site` builds it beside
// the page; SITE_BASE is the path that the site is served under, SITE_OUT the folder it goes to.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";

const root = resolve(import.meta.dirname, "../../..");
const docs = join(root, "docs");
const { homepage } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { homepage: string };
const repository = homepage.replace(/#.*/, "");
const base = process.env.SITE_BASE ?? "/";

/** The first heading of a page. */
const titleOf = (name: string): string => /^# (.+)$/m.exec(readFileSync(join(docs, name), "utf8"))?.[1] ?? name;

/** Sections of the sidebar, as docs/README.md lists the pages under its kinds. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const index = readFileSync(join(docs, "README.md"), "utf8");
  const kinds = index.split(/^\*\*/m).slice(1);
  return kinds.map((kind) => ({
    text: kind.slice(0, kind.indexOf("**")),
    items: [...kind.matchAll(/\]\(([\w/-]+)\.md\)/g)]
      .filter(([, path]) => path !== "api/README")
      .map(([, path]) => ({ text: titleOf(`${path}.md`), link: `/${path}` })),
  }));
}

const api = readdirSync(join(docs, "api"))
  .filter((name) => name !== "README.md")
  .map((name) => name.replace(/\.md$/, ""));

export default defineConfig({
  lang: "en",
  title: "mlgpf",
  description: "Extreme multi-label text classification with calibrated probabilities, anywhere JavaScript runs.",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: docs,
  srcExclude: ["release.md"],
  outDir: resolve(root, process.env.SITE_OUT ?? "site/dist", "docs"),
  cacheDir: join(root, "node_modules/.cache/vitepress"),
  base: `${base}docs/`,
  rewrites: { "README.md": "index.md", "api/README.md": "api/index.md" },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(md) {
      // Links that leave docs/ go to the repository; a README is the page of its folder.
      md.core.ruler.push("repository-links", ({ tokens }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const address = token.attrGet("href");
          if (address === null) continue;
          if (address.startsWith("../")) token.attrSet("href", `${repository}/blob/main/${address.slice(3)}`);
          else token.attrSet("href", address.replace(/(^|\/)README\.md/, "$1index.md"));
        }
      });
    },
  },
  themeConfig: {
    nav: [
      // The page is beside the documents, above their base.
      { text: "Try it", link: "/../index.html", target: "_self" },
      { text: "API", link: "/api/" },
      { text: "Repository", link: repository },
    ],
    sidebar: [
      ...sidebar(),
      {
        text: "API",
        items: api.map((name) => ({ text: name === "mlgpf" ? name : `mlgpf/${name}`, link: `/api/${name}` })),
      },
    ],
    outline: [2, 3],
    search: { provider: "local" },
    footer: { message: "Apache-2.0" },
  },
});
