// How TypeDoc writes the API reference: a page for each entry of the package, its exports in sections by the folder they come from.

import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { Comment, CommentTag, Converter, ReflectionKind } from "typedoc";

const root = resolve(import.meta.dirname, "../..");
/** Pages and the entries they are made from. */
const entries = {
  mlgpf: "src/index.ts",
  edge: "src/edge/index.ts",
  serve: "src/serve/index.ts",
  core: "src/core/index.ts",
};

/** Sections of the page of mlgpf, in their order: folders and files of src/ they are made from. The longest that fits counts. */
const sections = {
  Training: ["train", "parts/options", "parts/progress", "parts/run", "backend", "mpi"],
  Prediction: ["predict", "parts/predictor", "base/prediction", "base/reasons", "base/top"],
  Learning: ["learn", "parts/regression"],
  Data: ["data", "io", "base"],
  Metrics: ["metrics"],
  Reports: ["report"],
  Models: ["model", "parts"],
  "Compact models": ["compact", "parts/compact"],
  "The core": ["core"],
};

/** The other pages have a section for each file. */
function sectionOf(page, file) {
  const path = file.slice(file.lastIndexOf("/src/") + "/src/".length);
  if (basename(path) === "errors.ts") return "Errors";
  if (page !== "mlgpf") return basename(path, ".ts");
  const fitting = Object.entries(sections)
    .flatMap(([title, paths]) => paths.map((start) => ({ title, start })))
    .filter(({ start }) => path.startsWith(`${start}/`) || path === `${start}.ts`)
    .sort((one, other) => other.start.length - one.start.length);
  return fitting[0]?.title ?? "Others";
}

/** The comment at the top of a file. */
function topComment(file) {
  const lines = readFileSync(resolve(root, file), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}

const words = (text) => [{ kind: "text", text }];

/** Names pages, puts their exports into sections, refuses a page without any, and names those without a comment. */
function intoSections({ converter, logger }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const page of project.getReflectionsByKind(ReflectionKind.Module)) {
      if (page.name === "index") page.name = "mlgpf";
      page.comment = new Comment(words(topComment(entries[page.name])));
      if (!page.children?.length) logger.error(`mlgpf/${page.name}: found no exports, expected some`);
      for (const each of page.children ?? []) {
        const section = words(sectionOf(page.name, each.sources?.[0]?.fullFileName ?? ""));
        for (const one of each.signatures ?? [each]) {
          if (!one.comment && each.kind !== ReflectionKind.Reference)
            logger.warn(`${each.name}: found no comment, expected one for every export`);
          one.comment ??= new Comment();
          one.comment.blockTags.push(new CommentTag("@category", section));
        }
      }
    }
    // Links to lines would change with every commit.
    for (const each of Object.values(project.reflections)) delete each.sources;
  });
}

export default {
  name: "API reference",
  entryPoints: Object.values(entries).map((file) => resolve(root, file)),
  tsconfig: resolve(root, "tsconfig.json"),
  plugin: ["typedoc-plugin-markdown", intoSections],
  readme: "none",
  // The compiler that the package is built with checks it.
  skipErrorChecking: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  validation: { notExported: false },
  categorizeByGroup: false,
  categoryOrder: [...Object.keys(sections), "*", "Errors"],
  router: "module",
  pageTitleTemplates: { module: ({ name }) => (name === "mlgpf" ? name : `mlgpf/${name}`) },
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  propertyMembersFormat: "table",
  tableColumnSettings: { hideInherited: true, hideOverrides: true, hideModifiers: true, hideSources: true },
};
