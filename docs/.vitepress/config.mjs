import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { SECTIONS } from "./sections.mjs";
import { slugify } from "./slugify.mjs";

const DOCS = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const REPOSITORY = "https://github.com/quillgate/quillgate";

/** Returns the heading of a page without its marks. */
function readTitle(page) {
  const heading = /^# (.+)$/m.exec(readFileSync(join(DOCS, page), "utf8"));
  return heading[1].replaceAll("`", "");
}

/** Lists a section's pages. A folder includes all of its pages. */
function listPages(pages) {
  return pages.flatMap((page) => {
    if (page.endsWith(".md")) return [page];
    const files = readdirSync(join(DOCS, page)).filter((file) => file.endsWith(".md"));
    return files.sort().map((file) => posix.join(page, file));
  });
}

const toItem = (page) => ({
  text: readTitle(page),
  link: `/${page.replace(/README\.md$/, "").replace(/\.md$/, "")}`,
});

/** Lets links that leave `docs/` lead to the repository. */
function linkToRepository(markdown) {
  markdown.core.ruler.push("repository_links", ({ env, tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const target = token.type === "link_open" ? token.attrGet("href") : null;
      if (target === null || /^([a-z]+:|#|\/)/.test(target)) continue;
      const [path, anchor] = target.split("#");
      const file = resolve(DOCS, dirname(env.relativePath), path);
      const fromDocs = relative(DOCS, file);
      if (!fromDocs.startsWith("..") && fromDocs.endsWith(".md")) continue;
      const suffix = anchor === undefined ? "" : `#${anchor}`;
      const inRepository = relative(dirname(DOCS), file);
      token.attrSet("href", `${REPOSITORY}/blob/main/${inRepository}${suffix}`);
    }
  });
}

/** Keeps Vue from reading `${{ … }}` of workflows in spans of code. */
function protectCode(markdown) {
  const { code_inline: render } = markdown.renderer.rules;
  markdown.renderer.rules.code_inline = (tokens, index, ...others) => {
    tokens[index].attrSet("v-pre", "");
    return render(tokens, index, ...others);
  };
}

/** Draws diagrams in the browser. */
function drawDiagrams(markdown) {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...others) => {
    const { info, content } = tokens[index];
    if (info.trim() !== "mermaid") return fence(tokens, index, ...others);
    return `<Mermaid source="${encodeURIComponent(content)}" />`;
  };
}

export default defineConfig({
  title: "Quillgate",
  description: "Mintlify's agent jobs, deployments and analytics without handing out the admin key",
  cleanUrls: true,
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  markdown: {
    anchor: { slugify },
    config(markdown) {
      linkToRepository(markdown);
      protectCode(markdown);
      drawDiagrams(markdown);
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: ["Start", "Guides", "Operate", "Reference"].map((name) => ({
      text: name,
      link: toItem(listPages(SECTIONS.find(({ text }) => text === name).pages)[0]).link,
    })),
    sidebar: SECTIONS.map(({ text, pages, collapsed }) => ({
      text,
      collapsed,
      items: listPages(pages).map(toItem),
    })),
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    footer: {
      message:
        "Quillgate is an independent project. It is not made, endorsed or supported by Mintlify.",
    },
  },
});
