/** Runs bundles of the package in Chromium and on servers. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../harness/process.mjs";
import { install, versionOf, write } from "../installed.mjs";
import { serve } from "../static_server.mjs";
import { inChromium, pageEntry, pageOf } from "./browsers.mjs";
import { BUNDLERS } from "./bundlers.mjs";
import {
  cell,
  conclude,
  copyConformance,
  direct,
  exported,
  INLINE,
  imported,
  SPECIFIERS,
  upstream,
  viaGateway,
} from "./fixtures.mjs";
import { runInNode } from "./servers.mjs";

/** These emit the wasm file, or read the field `module`. Others support only the inline entry. */
const EMIT_FILES = ["Vite build", "webpack", "Parcel 2"];

let count = 0;

export function checkBundle(bundler, way) {
  const { tool, bundle, plugins = "" } = BUNDLERS[bundler];
  cell(bundler, way + plugins, (row) =>
    withProject(SPECIFIERS[way], async (root, server, name) => {
      row.version = versionOf(tool);
      await bundle(root, "browser");
      await inChromium(row, name, `${server.url}/page.html`, server);
    }),
  );
}

export function checkEveryBundle() {
  for (const bundler of Object.keys(BUNDLERS)) {
    if (EMIT_FILES.includes(bundler)) checkBundle(bundler, "`import`");
    checkBundle(bundler, INLINE);
  }
}

export function checkViteDevServer() {
  for (const [way, specifier] of Object.entries(SPECIFIERS)) {
    cell("Vite dev server", way, (row) =>
      withProject(specifier, async (root, server, name) => {
        const { createServer } = await import("vite");
        row.version = versionOf("vite");
        const proxy = { "/api": server.url, "/result": server.url };
        const port = await freePort();
        const vite = await createServer({
          root,
          configFile: false,
          logLevel: "warn",
          server: { port, host: "127.0.0.1", strictPort: true, proxy },
        });
        const url = `http://127.0.0.1:${port}`;
        write(root, { "settings.mjs": exported({ direct: direct(`${url}/api`, true) }) });
        await vite.listen();
        try {
          await inChromium(row, name, `${url}/index.html`, server);
        } finally {
          await vite.close();
        }
      }),
    );
  }
}

export function checkServerBundles(bundler, runtime, run) {
  for (const [way, specifier] of Object.entries(SPECIFIERS)) {
    checkServerBundle(bundler, `${way}, for ${runtime}`, specifier, run);
  }
}

export function checkNodeBundles() {
  checkServerBundle("esbuild", "`import`, for Node", "quillgate", runInNode);
  checkServerBundle("esbuild", "`import`, for Node, as CommonJS", "quillgate", runInNode, "cjs");
}

function checkServerBundle(bundler, way, specifier, run, format = "esm") {
  cell(bundler, way, async (row) => {
    row.version = versionOf(BUNDLERS[bundler].tool);
    const settings = { direct: direct(upstream.url), gateway: viaGateway() };
    const root = await installEntry(nextName(), imported(specifier), settings);
    await BUNDLERS[bundler].bundle(root, "server", format);
    // The bundle must not need the package's files.
    rmSync(join(root, "node_modules"), { recursive: true });
    conclude(row, await run(join("out", format === "cjs" ? "entry.cjs" : "entry.js"), root));
  });
}

/** Runs `make` with a bundler's project and a server for its output. */
async function withProject(specifier, make) {
  const name = nextName();
  const root = await installEntry(name, pageEntry(name, specifier, "settings"), {});
  const server = await serve({ folder: join(root, "out"), apiUrl: upstream.url });
  write(root, {
    "settings.mjs": exported({ direct: direct(`${server.url}/api`, true) }),
    "index.html": pageOf("/entry.mjs"),
    "out/page.html": pageOf("./entry.js"),
  });
  try {
    await make(root, server, name);
  } finally {
    await server.stop();
  }
}

async function installEntry(name, entry, settings) {
  const root = await install(name, { "entry.mjs": entry, "settings.mjs": exported(settings) });
  copyConformance(root);
  return root;
}

function nextName() {
  count += 1;
  return `bundle-${count}`;
}
