/** Fixtures of the checks in all runtimes, and the rows of docs/reference/runtimes.md. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canaryKey } from "../../harness/canary.mjs";
import { startGateway } from "../../harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../../harness/token.mjs";
import { startUpstream } from "../../harness/upstream.mjs";
import { copy, install, write } from "../installed.mjs";
import { serve } from "../static_server.mjs";

const PROJECT = "demo-docs";
const PAGES = 600;
const SECRET = newSecret();
export const KEY = canaryKey();
export const STRICT_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

export const INLINE = "`import` of `quillgate/inline`";
export const SPECIFIERS = { "`import`": "quillgate", [INLINE]: "quillgate/inline" };

export const rows = [];
export let upstream;
export let gateway;
export let folder;
export let site;

before(async () => {
  folder = await install("runtimes");
  const [createLimit, messageLimit, analyticsLimit] = [10_000, 10_000, 10_000];
  const limits = { createLimit, messageLimit, analyticsLimit };
  upstream = await startUpstream({ key: KEY, pages: PAGES, jobDurationMs: 1, ...limits });
  const policies = { "/strict-web.html": STRICT_POLICY, "/strict-inline.html": STRICT_POLICY };
  site = await serve({ folder, apiUrl: upstream.url, policies });
  gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey: KEY,
    secret: SECRET,
    allowedOrigins: site.url,
    assets: folder,
    vars: {
      CREATE_LIMIT_PER_HOUR: "10000",
      ANALYTICS_LIMIT_PER_HOUR: "10000",
      JOB_POLL_SECONDS: "1",
      JOB_POLLS_PER_HOUR: "100000",
    },
  });
  copyConformance(folder);
  const inBrowsers = direct(`${site.url}/api`, true);
  write(folder, {
    "settings.mjs": exported({ direct: direct(upstream.url), gateway: viaGateway() }),
    "browser_settings.mjs": exported({ direct: inBrowsers }),
    "gateway_settings.mjs": exported({ direct: inBrowsers, gateway: viaGateway() }),
    "main.mjs": imported("quillgate"),
    "main.cjs": required("quillgate"),
    "inline.mjs": imported("quillgate/inline"),
    "inline.cjs": required("quillgate/inline"),
  });
});

after(() => Promise.all([gateway?.stop(), site?.stop(), upstream?.stop()]));

export function copyConformance(folder) {
  copy(folder, "runtimes/conformance.mjs");
}

export function exported(value) {
  return `export default ${JSON.stringify(value)};`;
}

export function direct(baseUrl, dangerouslyAllowBrowser) {
  const auth = { adminKey: KEY, dangerouslyAllowBrowser };
  const client = { baseUrl, projectId: PROJECT, auth };
  const stranger = { ...client, auth: { ...auth, adminKey: "mint_nobody_knows_this_key" } };
  return { client, stranger, pages: PAGES };
}

export function viaGateway() {
  const scope = "jobs:create jobs:read analytics:read analytics:conversations";
  const claims = accessClaims({ sub: "package-test", projects: [PROJECT], scope });
  const auth = { token: mintToken(claims, SECRET) };
  const client = { baseUrl: gateway.url, projectId: PROJECT, auth };
  return { client, stranger: { ...client, auth: { token: "nobody.knows.this" } }, pages: PAGES };
}

export const RUN_CHECKS = `
const results = {};
for (const [way, each] of Object.entries(settings)) results[way] = await conform(quillgate, each);
`;

/** Without top-level `await`, so that bundlers can convert the module to CommonJS. */
export function imported(specifier) {
  return `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./settings.mjs";
(async () => {
  ${RUN_CHECKS}
  console.log("CONFORMANCE " + JSON.stringify(results));
})();
`;
}

function required(specifier) {
  return `
const quillgate = require("${specifier}");
(async () => {
  const { conform } = await import("./conformance.mjs");
  const { default: settings } = await import("./settings.mjs");
  ${RUN_CHECKS}
  console.log("CONFORMANCE " + JSON.stringify(results));
})();
`;
}

export function resultsIn(output) {
  const line = output.split("\n").find((text) => text.startsWith("CONFORMANCE "));
  assert.ok(line, output);
  return JSON.parse(line.slice("CONFORMANCE ".length));
}

export function cell(runtime, way, run) {
  const row = { runtime, version: "", way, result: "failed", ran: false };
  rows.push(row);
  test(`the package passes its checks in ${runtime}: ${way}`, async () => {
    row.ran = true;
    await run(row);
  });
}

export function conclude(row, results) {
  const problems = Object.entries(results).flatMap(([way, checks]) =>
    checks
      .filter(({ problem }) => problem)
      .map(({ name, problem }) => `${way}: ${name}: ${problem}`),
  );
  const total = Object.values(results).flat().length;
  const ways = Object.keys(results).map((way) =>
    way === "direct" ? "direct" : "through a gateway",
  );
  row.result = `${total - problems.length} of ${total} checks, ${ways.join(" and ")}`;
  assert.ok(total > 0, "no check ran");
  assert.deepEqual(problems, []);
}
