import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type HtmlTagDescriptor, type Plugin } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Folder of the built npm package. `QUILLGATE_PACKAGE` names another folder. */
const PACKAGE = process.env.QUILLGATE_PACKAGE ?? join(HERE, "../pkg/dist");
/**
 * Puts modules and their static imports into one file, which is smaller than several and needs one
 * request. The first group with a module gets it.
 */
function group(name: string, entries: string[], others = /^$/) {
  const files = new Set(entries.map((entry) => resolve(HERE, entry)));
  return { name, test: (id: string) => files.has(id) || others.test(id) };
}

const GROUPS = [
  {
    ...group(
      "ahead",
      ["src/ahead.ts", "src/shell/apply_theme.ts"],
      /vite\/preload|rolldown\/runtime/,
    ),
    priority: 1,
  },
  group("shell", ["src/page.tsx"], /node_modules\/@?preact\//),
  // Several routes use these. In the file of one, the others would load the whole file.
  group("routes", [
    ...["src/session/scope_notice.tsx", "src/shell/rate_limit.ts", "src/shell/readable_text.ts"],
    ...["src/shell/copy_button.tsx", "src/shell/time_ago.tsx", "src/shell/use_read.ts"],
    ...["src/jobs/pull_request_link.tsx", "src/jobs/pull_request_state.ts"],
    ...["src/jobs/job_news.ts", "src/jobs/job_state.ts", "src/jobs/words.ts"],
    ...["src/live/news.ts", "src/live/live_rows.module.css"],
    ...["instant.js", "pull_request.js", "rate_limit.js"].map((file) => join(PACKAGE, file)),
  ]),
  group("deployment_state", [
    ...["src/deployments/deployment_news.ts", "src/deployments/deployment_state.ts"],
  ]),
  group("analytics", ["src/analytics/page_views.tsx"]),
  group("package", [join(PACKAGE, "web.js"), "src/session/open_session.ts"]),
  group("interval_trend", ["src/analytics/trend/interval_trend.tsx"]),
  // Without the parts of an item's own page, which load with it.
  group("live", [], /\/src\/(?:live\/(?!item_|state_line|missing_)|sending\/(?!doubt_))/),
  group("session_jobs", [
    ...["src/jobs/session_jobs.ts", "src/jobs/open_composer.ts"],
    ...["src/jobs/job_rows.tsx", "src/jobs/new_job_button.tsx"],
  ]),
];

function linkTag(rel: string, file: string): HtmlTagDescriptor {
  const attrs = { rel, crossorigin: true, href: `/${file}` };
  return { tag: "link", attrs, injectTo: "head" };
}

function metaTag(name: string, content: string): HtmlTagDescriptor {
  return { tag: "meta", attrs: { name, content }, injectTo: "head" };
}

/**
 * Makes the browser fetch the shell immediately, because only a dynamic import names it. The styles
 * of the shell follow the global ones, which they override. `ahead.ts` fetches the package's core,
 * whose address only the bundle has.
 */
const preloadShell: Plugin = {
  name: "preload-shell",
  transformIndexHtml: {
    order: "post",
    handler(_html, { bundle = {} }) {
      const files = Object.keys(bundle);
      const scripts = files.filter((file) => /\/(?:page|shell)-[^/]+\.js$/.test(file));
      const styles = files.filter((file) => /\/shell-[^/]+\.css$/.test(file));
      const core = files.filter((file) => file.endsWith(".wasm"));
      return [
        ...core.map((file) => metaTag("core", `/${file}`)),
        ...scripts.map((file) => linkTag("modulepreload", file)),
        ...styles.map((file) => linkTag("stylesheet", file)),
      ];
    },
  },
};

/**
 * Names each class of a CSS Module after its file, for example `job_list-row`. Two files with the
 * same name fail the build, because their classes could collide.
 */
function styleModules(): Plugin {
  const files = new Map<string, string>();
  return {
    name: "style-modules",
    enforce: "post",
    config: () => ({
      css: {
        modules: {
          generateScopedName: (name, file) => `${basename(file, ".module.css")}-${name}`,
        },
      },
    }),
    buildStart: () => files.clear(),
    transform: {
      filter: { id: /\.module\.css$/ },
      handler(code, id) {
        const name = basename(id);
        const other = files.get(name) ?? id;
        if (other !== id) this.error(`two style sheets are named ${name}: ${other} and ${id}`);
        files.set(name, id);
        // The bundler inlines all class names. Without this, it would drop the module and its CSS.
        return { code, map: null, moduleSideEffects: "no-treeshake" };
      },
    },
  };
}

export default defineConfig({
  plugins: [preloadShell, styleModules()],
  root: HERE,
  resolve: {
    alias: [
      { find: /^quillgate$/, replacement: join(PACKAGE, "web.js") },
      { find: /^quillgate\/values$/, replacement: join(PACKAGE, "values.js") },
    ],
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // Pre-bundling would move the package away from the wasm file beside it.
  optimizeDeps: { exclude: ["quillgate"] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // These browsers have popovers and light-dark(), which would otherwise be lowered to twice its
    // size.
    cssTarget: ["chrome123", "firefox125", "safari17.5"],
    // A data: URL for the wasm file or an image would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // Every page load includes these files.
      resolveDependencies: (_file, files, { hostType }) =>
        hostType === "html" ? files : files.filter((file) => !/\/(?:ahead|shell)-/.test(file)),
    },
    sourcemap: false,
    rolldownOptions: {
      optimization: { inlineConst: { mode: "all" } },
      output: {
        codeSplitting: { groups: GROUPS },
      },
    },
  },
});
