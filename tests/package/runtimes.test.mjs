/** The packed package in every runtime, by one script; writes docs/runtimes.md. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { canaryKey } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { freePort, startProgram } from "../harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { launchBrowser } from "../page/browser.mjs";
import { BUN, BUNDLERS, DENO, denoEnv } from "./bundlers.mjs";
import { copy, install, runProgram, toolPath, versionOf, write } from "./installed.mjs";
import { serve } from "./static_server.mjs";
import { writeTable } from "./tables.mjs";

const PROJECT = "demo-docs";
const PAGES = 600;
const KEY = canaryKey();
const SECRET = newSecret();
const PLATFORM = `${process.platform}-${process.arch}`;

/** The checks wait for budgets and polls more than they work. */
const SIDE_BY_SIDE = { concurrency: 3 };

/** What stands in the table, in its order. */
const rows = [];
let upstream;
let gateway;
/** A promise: checks that run side by side share the one browser. */
let browser;
let folder;
let site;

before(async () => {
  folder = await install("runtimes");
  upstream = await startUpstream({
    key: KEY,
    pages: PAGES,
    jobDurationMs: 1,
    createLimit: 10_000,
    messageLimit: 10_000,
    analyticsLimit: 10_000,
  });
  const policies = { "/strict-web.html": STRICT_POLICY, "/strict-inline.html": STRICT_POLICY };
  site = await serve({ folder, apiUrl: upstream.url, policies });
  gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey: KEY,
    secret: SECRET,
    allowedOrigins: site.url,
    assets: folder,
    vars: { CREATE_LIMIT_PER_HOUR: "10000", ANALYTICS_LIMIT_PER_HOUR: "10000" },
  });
  copy(folder, "conformance.mjs");
  write(folder, {
    "settings.mjs": exported({ direct: direct(upstream.url), gateway: viaGateway() }),
    "browser_settings.mjs": exported({ direct: direct(`${site.url}/api`, true) }),
    "gateway_settings.mjs": exported({
      direct: direct(`${site.url}/api`, true),
      gateway: viaGateway(),
    }),
    "main.mjs": imported("quillgate"),
    "main.cjs": required("quillgate"),
    "inline.mjs": imported("quillgate/inline"),
    "inline.cjs": required("quillgate/inline"),
  });
});

after(async () => {
  await browser?.then((opened) => opened.close());
  await Promise.all([gateway?.stop(), site?.stop(), upstream?.stop()]);
  // Not when only some of them were asked for.
  if (rows.every(({ ran }) => ran)) writeTable("runtimes", rows);
});

function exported(value) {
  return `export default ${JSON.stringify(value)};`;
}

function direct(baseUrl, dangerouslyAllowBrowser) {
  const client = { baseUrl, projectId: PROJECT, adminKey: KEY, dangerouslyAllowBrowser };
  return { client, stranger: { ...client, adminKey: "mint_nobody_knows_this_key" }, pages: PAGES };
}

function viaGateway() {
  const scope = "jobs:create jobs:read analytics:read analytics:conversations";
  const claims = accessClaims({ sub: "package-test", projects: [PROJECT], scope });
  const client = { baseUrl: gateway.url, projectId: PROJECT, token: mintToken(claims, SECRET) };
  return { client, stranger: { ...client, token: "nobody.knows.this" }, pages: PAGES };
}

const EACH = `
const results = {};
for (const [way, each] of Object.entries(settings)) results[way] = await conform(quillgate, each);
`;

/** A program that runs the script and prints what it found. */
function imported(specifier) {
  return `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./settings.mjs";
${EACH}
console.log("CONFORMANCE " + JSON.stringify(results));
`;
}

function required(specifier) {
  return `
const quillgate = require("${specifier}");
(async () => {
  const { conform } = await import("./conformance.mjs");
  const { default: settings } = await import("./settings.mjs");
  ${EACH}
  console.log("CONFORMANCE " + JSON.stringify(results));
})();
`;
}

const INLINE = "`import` of `quillgate/inline`";
/** The programs that import each entry. */
const IMPORTED = { "`import`": "main.mjs", [INLINE]: "inline.mjs" };

/** Checks what the script found, and notes the cell. */
function conclude(cell, results) {
  const problems = Object.entries(results).flatMap(([way, checks]) =>
    checks
      .filter(({ problem }) => problem)
      .map(({ name, problem }) => `${way}: ${name}: ${problem}`),
  );
  const total = Object.values(results).flat().length;
  const ways = Object.keys(results).map((way) =>
    way === "direct" ? "direct" : "through a gateway",
  );
  cell.result = `${total - problems.length} of ${total} checks, ${ways.join(" and ")}`;
  assert.ok(total > 0, "no check was run");
  assert.deepEqual(problems, []);
}

/** A test that is a row of the table, also when it fails. */
function cell(runtime, way, run) {
  const row = { runtime, version: "", way, result: "failed", ran: false };
  rows.push(row);
  test(`${runtime}: ${way}`, () => {
    row.ran = true;
    return run(row);
  });
}

function resultsIn(output) {
  const line = output.split("\n").find((text) => text.startsWith("CONFORMANCE "));
  assert.ok(line, output);
  return JSON.parse(line.slice("CONFORMANCE ".length));
}

describe("on servers", SIDE_BY_SIDE, () => {
  const [own] = process.versions.node.split(".");
  const others = ["22", "24"].filter((major) => major !== own);
  const nodes = [
    [own, process.execPath],
    ...others.map((major) => [major, toolPath(`node-${major}-${PLATFORM}`, "bin", "node")]),
  ];
  const ways = {
    ...IMPORTED,
    "`require`": "main.cjs",
    "`require` of `quillgate/inline`": "inline.cjs",
  };
  for (const [major, program] of nodes) {
    for (const [way, file] of Object.entries(ways)) {
      cell(`Node ${major}`, way, async (row) => {
        const { stdout } = await capture(program, ["--version"]);
        row.version = stdout.trim().slice(1);
        conclude(
          row,
          resultsIn(await runProgram(`node-${major}`, program, [file], { cwd: folder })),
        );
      });
    }
  }

  for (const [way, file] of Object.entries(IMPORTED)) {
    cell("Deno", way, async (row) => {
      row.version = versionOf("deno");
      conclude(row, await runInDeno(file, folder));
    });
  }

  for (const [way, file] of Object.entries(IMPORTED)) {
    cell("Bun", way, async (row) => {
      row.version = versionOf("bun");
      conclude(row, await runInBun(file, folder));
    });
  }
});

async function runInDeno(file, cwd) {
  // No access to the environment: a variable that may not be read is one that is not there.
  const allowed = ["--allow-net=127.0.0.1", "--allow-read=."];
  const args = ["run", "--no-prompt", "--no-remote", ...allowed, file];
  return resultsIn(await runProgram("deno", DENO, args, { cwd, env: denoEnv(cwd) }));
}

async function runInBun(file, cwd) {
  return resultsIn(await runProgram("bun", BUN, ["run", "--no-install", file], { cwd }));
}

async function runInNode(file, cwd) {
  return resultsIn(await runProgram("node", process.execPath, [file], { cwd }));
}

/** A module that runs the script in a page and posts what it found. */
function pageEntry(name, specifier, settings = "browser_settings") {
  return `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./${settings}.mjs";
${EACH}
await fetch("/result/${name}", { method: "POST", body: JSON.stringify(results) });
`;
}

function pageOf(module) {
  return `<!doctype html><meta charset="utf-8"><title>quillgate</title><script type="module" src="${module}"></script>`;
}

function html(script, head = "") {
  return `<!doctype html><meta charset="utf-8"><title>quillgate</title>${head}<script type="module">${script}</script>`;
}

const STRICT_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** Fails where the policy is not in force. */
const NO_EVAL = `
let allowed = true;
try { new Function(""); } catch { allowed = false; }
if (allowed) throw new Error("the page may evaluate text");
`;

/** Opens an address in Chromium until the page has told its results. */
async function inChromium(row, name, url, server = site) {
  browser ??= launchBrowser();
  const opened = await browser;
  row.version ||= opened.version();
  const page = await opened.newPage();
  const failed = new Promise((_, reject) => {
    page.on("pageerror", (error) => reject(error));
    page.on("crash", () => reject(new Error("the page crashed")));
  });
  const told = [];
  page.on("console", (line) => told.push(line.text()));
  try {
    await page.goto(url);
    const patience = AbortSignal.timeout(120_000);
    const late = new Promise((_, reject) => {
      patience.onabort = () => reject(new Error(`nothing came from ${url}: ${told.join("\n")}`));
    });
    conclude(row, await Promise.race([server.result(name), failed, late]));
    assert.ok(!told.join("\n").includes(KEY));
  } finally {
    await page.close();
  }
}

describe("in browsers, as plain ES modules", SIDE_BY_SIDE, () => {
  const map =
    '<script type="importmap">{"imports":{"quillgate":"/node_modules/quillgate/dist/web.js"}}</script>';

  cell("Chromium", "ES modules, by address", (row) => {
    const page = pageEntry("address", "/node_modules/quillgate/dist/web.js");
    write(folder, { "address.html": html(page) });
    return inChromium(row, "address", `${site.url}/address.html`);
  });

  cell("Chromium", "ES modules, by an import map", (row) => {
    write(folder, { "map.html": html(pageEntry("map", "quillgate", "gateway_settings"), map) });
    return inChromium(row, "map", `${site.url}/map.html`);
  });

  cell("Chromium", "ES modules, in a module worker", (row) => {
    write(folder, {
      "worker.html": html('new Worker("/worker.mjs", { type: "module" });'),
      "worker.mjs": pageEntry("worker", "/node_modules/quillgate/dist/web.js"),
    });
    return inChromium(row, "worker", `${site.url}/worker.html`);
  });

  const entries = { "": "web", " of `quillgate/inline`": "inline" };
  for (const [what, entry] of Object.entries(entries)) {
    cell("Chromium", `ES modules${what}, under \`script-src 'self' 'wasm-unsafe-eval'\``, (row) => {
      const page = pageEntry(`strict-${entry}`, `/node_modules/quillgate/dist/${entry}.js`);
      write(folder, {
        [`strict-${entry}.html`]: pageOf(`/strict-${entry}.mjs`),
        [`strict-${entry}.mjs`]: `${NO_EVAL}${page}`,
      });
      return inChromium(row, `strict-${entry}`, `${site.url}/strict-${entry}.html`);
    });
  }

  cell("Firefox", "ES modules, by an import map", async (row) => {
    const firefox = process.env.FIREFOX ?? "firefox-esr";
    const { stdout } = await capture(firefox, ["--version"]);
    row.version = /[\d.]+\w*/.exec(stdout)?.[0] ?? "";
    write(folder, {
      "firefox.html": html(pageEntry("firefox", "quillgate", "gateway_settings"), map),
    });
    const profile = mkdtempSync(join(tmpdir(), "quillgate-firefox-"));
    writeFileSync(join(profile, "user.js"), FIREFOX_PREFERENCES);
    const args = ["--headless", "--no-remote", "--profile", profile, `${site.url}/firefox.html`];
    const env = { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" };
    const program = startProgram("package-firefox", firefox, args, { env });
    try {
      const results = program.until(() => Promise.race([site.result("firefox"), soon()]), 120_000);
      conclude(row, await results);
    } finally {
      await program.stop();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});

const FIREFOX_PREFERENCES = Object.entries({
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "browser.safebrowsing.downloads.remote.enabled": false,
  "services.settings.server": "",
  "toolkit.telemetry.enabled": false,
})
  .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
  .join("");

/** So that a wait can see in between whether there is still something to wait for. */
function soon() {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

/** A folder with a bundler's entry, the script and its settings. */
async function prepareBundle(name, entry, settings) {
  const root = await install(name, { "entry.mjs": entry, "settings.mjs": exported(settings) });
  copy(root, "conformance.mjs");
  return root;
}

/** What a bundler says of the entry, by what stands in a row. */
const ENTRIES = { "`import`": "quillgate", [INLINE]: "quillgate/inline" };

let bundles = 0;

describe("bundled, in Chromium", SIDE_BY_SIDE, () => {
  /** A folder with an entry for a bundler, and a server for what becomes of it. */
  async function bundle(specifier, make) {
    const name = `bundle-${bundles++}`;
    const root = await prepareBundle(name, pageEntry(name, specifier, "settings"), {});
    const own = await serve({ folder: join(root, "out"), apiUrl: upstream.url });
    write(root, {
      "settings.mjs": exported({ direct: direct(`${own.url}/api`, true) }),
      "index.html": pageOf("/entry.mjs"),
      "out/page.html": pageOf("./entry.js"),
    });
    try {
      await make(root, own, name);
    } finally {
      await own.stop();
    }
  }

  /** Those that emit the wasm file by themselves; with the others only the inline entry works. */
  const EMIT_FILES = ["Vite build", "webpack"];

  for (const [bundler, { tool, bundle: run, plugins = "" }] of Object.entries(BUNDLERS)) {
    for (const [way, specifier] of Object.entries(ENTRIES)) {
      if (way !== INLINE && !EMIT_FILES.includes(bundler)) continue;
      cell(bundler, way + plugins, (row) =>
        bundle(specifier, async (root, own, name) => {
          row.version = versionOf(tool);
          await run(root, "browser");
          await inChromium(row, name, `${own.url}/page.html`, own);
        }),
      );
    }
  }

  for (const [way, specifier] of Object.entries(ENTRIES)) {
    cell("Vite dev server", way, (row) =>
      bundle(specifier, async (root, own, name) => {
        const { createServer } = await import("vite");
        row.version = versionOf("vite");
        const proxy = { "/api": own.url, "/result": own.url };
        const port = await freePort();
        const server = await createServer({
          root,
          configFile: false,
          logLevel: "warn",
          server: { port, host: "127.0.0.1", strictPort: true, proxy },
        });
        const url = `http://127.0.0.1:${port}`;
        write(root, { "settings.mjs": exported({ direct: direct(`${url}/api`, true) }) });
        await server.listen();
        try {
          await inChromium(row, name, `${url}/index.html`, own);
        } finally {
          await server.close();
        }
      }),
    );
  }
});

describe("bundled, on servers", SIDE_BY_SIDE, () => {
  const runtimes = {
    esbuild: { name: "Node", run: runInNode },
    "bun build": { name: "Bun", run: runInBun },
    "deno bundle": { name: "Deno", run: runInDeno },
  };
  for (const [bundler, runtime] of Object.entries(runtimes)) {
    cell(bundler, `${INLINE}, for ${runtime.name}`, async (row) => {
      row.version = versionOf(BUNDLERS[bundler].tool);
      const settings = { direct: direct(upstream.url), gateway: viaGateway() };
      const name = `bundle-${bundles++}`;
      const root = await prepareBundle(name, imported("quillgate/inline"), settings);
      await BUNDLERS[bundler].bundle(root, "server");
      // What runs is the bundle, and nothing that stands beside it.
      rmSync(join(root, "node_modules"), { recursive: true });
      conclude(row, await runtime.run(join("out", "entry.js"), root));
    });
  }
});

describe("on the edge", () => {
  for (const [way, specifier] of Object.entries(ENTRIES)) {
    cell("workerd", `${way}, by wrangler`, (row) => inWorkerd(row, specifier));
  }

  async function inWorkerd(row, specifier) {
    row.version = versionOf("workerd");
    const root = await install(specifier.replace("/", "-in-workerd-"), {
      "wrangler.toml": 'name = "cell"\nmain = "worker.mjs"\ncompatibility_date = "2026-04-01"\n',
      "worker.mjs": `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./settings.mjs";
export default {
  async fetch(request) {
    if (new URL(request.url).pathname === "/healthz") return new Response("ready");
    ${EACH}
    return Response.json(results);
  },
};
`,
      "settings.mjs": exported({ direct: direct(upstream.url), gateway: viaGateway() }),
    });
    copy(root, "conformance.mjs");
    const worker = await startGateway({ config: join(root, "wrangler.toml") });
    try {
      const response = await fetch(worker.url);
      assert.equal(response.status, 200, worker.log());
      conclude(row, await response.json());
    } finally {
      await worker.stop();
    }
  }
});

describe("rendered on a server", () => {
  for (const entry of ["node", "web", "inline"]) {
    cell(
      "Server-side rendering",
      `\`import\` of the ${entry} entry, untouched globals`,
      async (row) => {
        row.version = `Node ${process.versions.node}`;
        copy(folder, "side_effects.mjs");
        const args = ["side_effects.mjs", entry];
        const output = await runProgram("side-effects", process.execPath, args, { cwd: folder });
        const { byImport, byClient, added } = JSON.parse(output);
        // The glue makes its text coder, which is in every runtime and has no effect.
        const reads = byImport.reads.filter(
          (name) => !["TextDecoder", "TextEncoder"].includes(name),
        );
        assert.deepEqual({ reads, writes: byImport.writes }, { reads: [], writes: [] });
        assert.deepEqual({ byClient, added }, { byClient: [], added: [] });
        row.result = "no fetch, no wasm, no timer, nothing defined";
      },
    );
  }
});
