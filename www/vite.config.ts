import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Folder of the built npm package. */
const PACKAGE = process.env.QUILLGATE_PACKAGE ?? join(HERE, "../pkg/dist");
/** A static import or export of another file, other than of its types alone. */
const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^"';]*?\sfrom\s)?"(\.{1,2}\/[^"]+)"/gm;

/** The files that one file loads at once, itself among them: not what it imports when it needs it. */
function loadedWith(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry) || !/\.(?:tsx?|js)$/.test(entry) || !existsSync(entry)) return found;
  found.add(entry);
  for (const [, path = ""] of readFileSync(entry, "utf8").matchAll(STATIC_IMPORT)) {
    loadedWith(resolve(entry, "..", path), found);
  }
  return found;
}

/** What is always loaded together becomes one file: smaller than its parts, and one request. */
function group(name: string, entries: string[], others = /^$/) {
  const paths = entries.map((entry) => resolve(HERE, entry));
  const files = new Set(paths.flatMap((path) => [...loadedWith(path)]));
  return { name, test: (id: string) => files.has(id) || others.test(id) };
}

const GROUPS = [
  {
    ...group(
      "ahead",
      ["src/session/ahead.ts", "src/shell/apply_theme.ts"],
      /vite\/preload|rolldown\/runtime/,
    ),
    priority: 1,
  },
  group(
    "shell",
    ["src/page.tsx", "src/session/scope_notice.tsx", "src/shell/rate_limit.ts"],
    /node_modules\/@?preact\//,
  ),
  // On large sites, notices of partial reports load right after the rows. In one file with them they
  // take a third fewer bytes.
  group("analytics", ["src/analytics/page_views.tsx", "src/analytics/part_notices.tsx"]),
  group("package", [join(PACKAGE, "web.js"), "src/session/open_session.ts"]),
  group("archived_trend", ["src/analytics/archived_trend.tsx"]),
  group("session_jobs", ["src/jobs/session_jobs.ts"]),
];

/** Has the browser fetch the shell at once, which only the first lines of the page import. */
const preloadShell: Plugin = {
  name: "preload-shell",
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle = {} }) {
      const files = Object.keys(bundle).filter((file) => /\/(?:page|shell)-[^/]+\.js$/.test(file));
      return files.map((file) => {
        const attrs = { rel: "modulepreload", crossorigin: true, href: `/${file}` };
        return { tag: "link", attrs, injectTo: "head" };
      });
    },
  },
};

export default defineConfig({
  plugins: [preloadShell],
  root: HERE,
  resolve: {
    alias: [
      { find: /^quillgate$/, replacement: join(PACKAGE, "web.js") },
      { find: /^(?:\.\.\/)+pkg\/dist\//, replacement: `${PACKAGE}/` },
    ],
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // Pre-bundling would move the package away from the wasm file beside it.
  optimizeDeps: { exclude: ["quillgate"] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // New enough for light-dark(), which would otherwise be lowered to twice its size.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL for the wasm file or an image would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // What the page itself loads is there before anything else is imported.
      resolveDependencies: (_file, files, { hostType }) =>
        hostType === "html" ? files : files.filter((file) => !/\/(?:ahead|shell)-/.test(file)),
    },
    sourcemap: false,
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
});
