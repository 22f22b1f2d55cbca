/** Renders `docs/problems/` as static files, which the gateway serves at `/problems/<name>`. */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { StepError } from "../child.mjs";
import { ROOT } from "../versions.mjs";

export const PROBLEM_DOCS = join(ROOT, "docs", "problems");
const DOCS = "docs/problems";
const INDEX = "README.md";
const STYLE = join(import.meta.dirname, "problem_pages.css");

/** Cloudflare serves `problems/not-found.html` at `/problems/not-found`. */
export async function writeProblemPages(folder) {
  const { Marked } = await import("marked");
  const marked = new Marked({ renderer: RENDERER });
  const out = join(folder, "problems");
  await mkdir(out, { recursive: true });
  const names = (await readdir(PROBLEM_DOCS)).filter((name) => name.endsWith(".md"));
  for (const name of names) {
    const text = await readFile(join(PROBLEM_DOCS, name), "utf8");
    const title = /^# (.+)$/m.exec(text)?.[1];
    if (title === undefined) throw new StepError(`${DOCS}/${name} has no heading`);
    const page = layOut(title, marked.parse(text));
    await writeFile(join(out, name === INDEX ? "index.html" : name.replace(/md$/, "html")), page);
  }
  await copyFile(STYLE, join(out, "style.css"));
}

/** Links to other documents become text, because the gateway serves only these pages. */
const RENDERER = {
  link({ href, tokens }) {
    const text = this.parser.parseInline(tokens);
    const address = findAddress(href);
    if (address !== undefined) return `<a href="${address}">${text}</a>`;
    const file = posix.join(DOCS, href.split("#")[0]);
    return `${text} (<code>${file}</code>)`;
  },
  html: () => "",
};

function findAddress(href) {
  if (/^https:/.test(href)) return href;
  const name = /^([a-z-]+|README)\.md$/.exec(href)?.[1];
  return name && `/problems/${name === "README" ? "" : name}`;
}

function layOut(title, content) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title} · Quillgate</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/problems/style.css">
</head>
<body>
<nav aria-label="Pages"><a href="/">Quillgate</a> <a href="/problems/">Problems</a></nav>
<main>
${content.trim()}
</main>
<footer>Paths such as <code>docs/operate/keys.md</code> are files of Quillgate’s repository.</footer>
</body>
</html>
`;
}
