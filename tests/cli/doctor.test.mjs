/** The doctor's findings and the actions that it suggests. */
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SECRETS } from "../../gateway/src/secrets.js";
import { GATEWAY_SECRETS } from "../../pkg/dist/cli/gateway_secrets.js";
import { send } from "../../pkg/dist/cli/raw_request.js";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { runCommand } from "./command_line.mjs";
import {
  folder,
  quillgate,
  respondTo,
  respondWith,
  server,
  useStandIn,
  write,
} from "./session.mjs";
import { budgetFields, PROJECT, problem } from "./stand_in.mjs";

const DAY_S = 86_400;
const ARCHIVE = {
  ...{ complete: 28, failed: 0, missing: [{ dateFrom: "2026-01-03", dateTo: "2026-01-05" }] },
  completeAt: "2026-02-01T01:00:00Z",
};
const ARCHIVE_STATUS = /\/views\/daily\/status$/;

useStandIn({
  override: ({ path }) => (ARCHIVE_STATUS.test(path) ? { json: ARCHIVE } : undefined),
});

function token(changes = {}) {
  const grant = { sub: "alice", projects: [PROJECT], scope: "jobs:read analytics:read" };
  return mintToken({ ...accessClaims(grant), ...changes }, newSecret());
}

async function runDoctor({ env = {}, args = [] } = {}) {
  const settings = { QUILLGATE_TOKEN: token(), ...env };
  const result = await quillgate(["doctor", "--json", ...args], { env: settings });
  assert.equal(result.stdout[0], "[", result.stderr);
  const findings = JSON.parse(result.stdout);
  const wrong = findings.filter(({ level }) => level !== "ok");
  return { ...result, findings, wrong, checks: findings.map(({ check }) => check) };
}

async function findOnly(options) {
  const { wrong, code } = await runDoctor(options);
  assert.equal(wrong.length, 1, JSON.stringify(wrong));
  assert.ok(wrong[0].action.length > 0);
  assert.equal(code, wrong[0].level === "problem" ? 10 : 0);
  return wrong[0];
}

test("the doctor reports ok for every check and uses at most one request of the budget", async () => {
  const { code, checks, wrong } = await runDoctor();
  assert.deepEqual(wrong, []);
  assert.equal(code, 0);
  assert.deepEqual(checks, [
    ...["versions", "project", "credential", "scopes", "expiry", "base URL", "clock"],
    ...["versions", "jobs:read", "analytics:read", "budget", "archive"],
  ]);
  // The archive's status comes from the gateway's database and costs no budget.
  const counted = server.requests.filter(({ path }) => /^\/v1\/(?!.*\/daily\/)/.test(path));
  assert.equal(counted.length, 1);
});

test("the doctor prints a line per check and the action below each problem", async () => {
  const env = { QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_BASE_URL: server.url, NO_COLOR: "1" };
  const { code, stdout, stderr } = await runCommand(["doctor"], { env, folder });
  assert.equal(code, 10);
  assert.match(stdout, /^ok {7}versions {8} quillgate \d/m);
  assert.match(
    stdout,
    /^PROBLEM {2}credential {7}is not set\n {26}run quillgate login, or set QUILLGATE_TOKEN/m,
  );
  assert.match(stderr, /^quillgate: 1 problem$/m);
});

test("the doctor knows the secrets of the gateway's package", () => {
  assert.deepEqual(GATEWAY_SECRETS, SECRETS);
});

test("the doctor suggests a login if nothing is configured", async () => {
  const { code, stdout } = await runCommand(["doctor"], { env: { NO_COLOR: "1" }, folder });
  assert.equal(code, 10);
  for (const check of ["credential", "base URL  "]) {
    assert.match(stdout, new RegExp(`^PROBLEM  ${check} +is not set\n +run quillgate login`, "m"));
  }
});

test("the doctor finds a token that has expired or expires soon", async () => {
  const now = Math.floor(Date.now() / 1000);
  const expired = await findOnly({ env: { QUILLGATE_TOKEN: token({ exp: now - 60 }) } });
  assert.match(expired.found, /^the token expired at \d{4}-/);
  assert.equal(expired.level, "problem");
  const soon = await findOnly({ env: { QUILLGATE_TOKEN: token({ exp: now + DAY_S }) } });
  assert.match(soon.found, /^the token expires at/);
  assert.equal(soon.level, "warning");
});

test("the doctor finds a token for another project", async () => {
  const env = { QUILLGATE_TOKEN: token({ projects: ["other"] }) };
  const { check, found } = await findOnly({ env });
  assert.deepEqual([check, found], ["scopes", "the token is not for demo-docs, but for other"]);
  const isUnsent = !server.requests.some(({ path }) => path.startsWith("/v"));
  assert.ok(isUnsent, "the doctor sent the token all the same");
  // A trusted issuer's token names no projects, so only the gateway can check them.
  respondTo(/^\/v/, problem(403, "project-not-allowed", "not for this project"));
  const refused = await findOnly({ env: { QUILLGATE_TOKEN: token({ projects: undefined }) } });
  assert.equal(refused.check, "project");
  assert.match(refused.action, /check the project's identifier/);
});

for (const [what, value, message] of [
  ["is …", "…", /QUILLGATE_TOKEN is not a credential: it has a character that is not ASCII/],
  ["has quotes", `"a.b.c"`, /it has a quotation mark: remove the quotes/],
  ["has a space", "a b", /it has a space/],
  ["is Mintlify's admin key", "mint_secret", /QUILLGATE_TOKEN is Mintlify's admin key/],
]) {
  test(`the doctor finds a credential that ${what} and continues with other checks`, async () => {
    const { wrong, checks, stdout } = await runDoctor({ env: { QUILLGATE_TOKEN: value } });
    const names = wrong.map(({ check }) => check);
    assert.deepEqual(names, ["credential"]);
    assert.match(wrong[0].found, message);
    assert.match(wrong[0].action, /ask the operator of the gateway/);
    assert.ok(checks.includes("clock"));
    assert.ok(!stdout.includes("mint_secret"));
    assert.ok(!server.requests.some(({ headers }) => headers.authorization !== undefined));
  });
}

test("the doctor finds a malformed token and a malformed admin key", async () => {
  const { wrong } = await runDoctor({ env: { QUILLGATE_TOKEN: "not-a-token" } });
  assert.match(wrong[0].found, /QUILLGATE_TOKEN does not contain a token/);
  const env = { QUILLGATE_TOKEN: "", QUILLGATE_ADMIN_KEY: "not-a-key" };
  const { found } = await findOnly({ env });
  assert.match(found, /does not contain an admin key/);
});

test("the doctor finds a token that the gateway rejects, entirely or for one scope", async () => {
  respondTo(/^\/v/, problem(401, "unauthorized", "the token is revoked"));
  const refused = await findOnly();
  assert.match(refused.found, /401: the token is revoked/);
  respondTo(/^\/v1/, problem(403, "forbidden", "not allowed"));
  const { check, action } = await findOnly();
  const advice = "ask for a token with the scope analytics:read";
  assert.deepEqual([check, action], ["analytics:read", advice]);
});

for (const [direction, seconds, words] of [
  ["ahead", -120, /this clock is 1(19|20|21) s ahead/],
  ["behind", 120, /this clock is 1(19|20|21) s behind/],
]) {
  test(`the doctor finds a clock that is ${direction}`, async () => {
    respondWith(({ path }) => {
      const date = new Date(Date.now() + seconds * 1000).toUTCString();
      return path === "/healthz" ? { headers: { date }, json: {} } : undefined;
    });
    const { check, found } = await findOnly();
    assert.equal(check, "clock");
    assert.match(found, words);
  });
}

test("the doctor finds a gateway of another release", async () => {
  respondTo(/^\/openapi\.json$/, { json: { info: { version: "9.1.0" } } });
  const { check, level, found } = await findOnly();
  assert.deepEqual([check, level, found], ["versions", "warning", "the gateway is 9.1.0"]);
});

test("the doctor finds a spent budget", async () => {
  const fields = { ...budgetFields(0, 2900), "retry-after": "2900" };
  respondTo(/^\/v1(?!.*\/daily\/)/, problem(429, "rate-limited", "none left", fields));
  const { check, level, found } = await findOnly();
  assert.deepEqual([check, level], ["budget", "problem"]);
  assert.equal(found, "analytics: 0 of 100 left, more in 49 min");
});

test("the doctor finds a spent budget behind a cached response", async () => {
  const detail = "quillgate; hit; detail=quota-exceeded";
  const cached = { ...budgetFields(0, 90), "cache-status": detail };
  respondWith(({ path, headers }) => {
    if (!path.startsWith("/v1") || ARCHIVE_STATUS.test(path)) return undefined;
    // The cached response has budget fields only if the request has `no-cache`.
    const bypassesCache = headers["cache-control"] === "no-cache";
    const json = { totals: {}, views: [], hasMore: false };
    return { headers: bypassesCache ? cached : {}, json };
  });
  const { check, level, found } = await findOnly();
  assert.deepEqual([check, level], ["budget", "problem"]);
  assert.equal(found, "analytics: 0 of 100 left, more in 90 s");
});

for (const [what, url, words] of [
  ["without a server", "http://127.0.0.1:2", /127\.0\.0\.1:2 refuses connections/],
  ["without a scheme", "gate.example", /must be an address such as/],
  ["with a password", "https://user:secret@gate.example", /no credentials/],
]) {
  test(`the doctor finds a base URL ${what}`, async () => {
    const { check, found } = await findOnly({ env: { QUILLGATE_BASE_URL: url } });
    assert.equal(check, "base URL");
    assert.match(found, words);
    assert.ok(!found.includes("secret"));
  });
}

test("the doctor sends no token over http to another machine, unless a variable allows it", async (t) => {
  const { fetch } = globalThis;
  const remote = "http://gate.example";
  t.mock.method(globalThis, "fetch", (url, init) => fetch(url.replace(remote, server.url), init));
  const sent = () => server.requests.filter(({ headers }) => headers.authorization !== undefined);
  const env = { QUILLGATE_BASE_URL: remote };
  const { check, found, action } = await findOnly({ env });
  assert.equal(check, "base URL");
  assert.match(found, /^http:\/\/gate\.example is not https/);
  assert.match(action, /QUILLGATE_ALLOW_PLAIN_HTTP=1/);
  assert.deepEqual(sent(), []);
  const allowed = await findOnly({ env: { ...env, QUILLGATE_ALLOW_PLAIN_HTTP: "1" } });
  assert.deepEqual([allowed.check, allowed.level], ["base URL", "warning"]);
  assert.ok(sent().length > 0);
});

test("a raw request with a credential refuses http to another machine", async (t) => {
  const fetch = t.mock.method(globalThis, "fetch", () => assert.fail("it was sent"));
  const headers = { authorization: "Bearer token" };
  const options = { signal: new AbortController().signal, timeout: 1000 };
  await assert.rejects(send("http://gate.example/healthz", headers, options), /must be https/);
  assert.equal(fetch.mock.callCount(), 0);
});

test("the doctor suggests no log of the gateway when its host does not resolve", async () => {
  const env = { QUILLGATE_BASE_URL: "https://gate.invalid" };
  const { found, action } = await findOnly({ env });
  assert.match(found, /^gate\.invalid cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)$/);
  assert.ok(!action.includes("wrangler"), action);
});

test("the doctor finds a base URL of another site", async () => {
  respondTo(/^\/healthz$/, { status: 404 });
  const { found, action } = await findOnly();
  assert.match(found, /\/healthz answers 404/);
  assert.match(action, /is it a gateway's address/);
});

test("the doctor finds a token file that other users can read", {
  skip: process.platform === "win32",
}, async () => {
  const file = join(folder, "token");
  write("token", token());
  const env = { QUILLGATE_TOKEN: "" };
  const args = ["--token-file", "token"];
  chmodSync(file, 0o644);
  const { check, level, action } = await findOnly({ env, args });
  assert.deepEqual([check, level, action], ["file", "warning", `chmod 600 ${file}`]);
  chmodSync(file, 0o600);
  assert.deepEqual((await runDoctor({ env, args })).wrong, []);
});

const NO_NUMBER = ["warning", /^the gateway's response has no number of days$/, /gateway's log/];
for (const [what, answer, level, found, action] of [
  ["with gaps", { json: ARCHIVE }, "ok", /^28 days held, 2 missing, complete at 2026-02-01T/],
  ["with all days", { json: { complete: 1, missing: [] } }, "ok", /^1 day held, none missing$/],
  [
    "with failing days",
    { json: { ...ARCHIVE, failed: 1 } },
    ...["warning", /^28 days held, 2 missing$/, /quillgate archive status/],
  ],
  ["without a number of days", { json: { missing: [] } }, ...NO_NUMBER],
  ["whose missing days have no dates", { json: { ...ARCHIVE, missing: [{}] } }, ...NO_NUMBER],
  [
    "of other projects",
    problem(501, "archive-not-configured", "ARCHIVE_PROJECTS has to name it"),
    ...["ok", /^not available: ARCHIVE_PROJECTS has to name it$/],
  ],
  [
    "without tables",
    problem(501, "archive-not-configured", "no tables: `wrangler d1 migrations apply ARCHIVE`"),
    ...["problem", /answers 501: no tables/, /wrangler d1 migrations apply ARCHIVE --local$/],
  ],
  ["that fails", problem(500, "internal", "it failed"), "problem", /500: it failed/, /log/],
]) {
  test(`the doctor examines an archive ${what}`, async () => {
    respondTo(ARCHIVE_STATUS, answer);
    const { findings } = await runDoctor();
    const finding = findings.find(({ check }) => check === "archive");
    assert.equal(finding.level, level, JSON.stringify(finding));
    assert.match(finding.found, found);
    if (action === undefined) assert.equal(finding.action, null);
    else assert.match(finding.action, action);
  });
}

test("the doctor skips the archive for a token without analytics:read", async () => {
  const { checks } = await runDoctor({ env: { QUILLGATE_TOKEN: token({ scope: "jobs:read" }) } });
  assert.ok(!checks.includes("archive"));
});

for (const [variable, action] of [
  ["ADMIN_API_KEY", /^the operator sets it: npx wrangler secret put ADMIN_API_KEY$/],
  ["TRUSTED_ISSUERS", /\[vars\] of wrangler\.toml/],
]) {
  test(`the doctor finds an invalid ${variable} of the gateway`, async () => {
    const refusal = problem(500, "misconfigured", `the gateway's variable ${variable} is wrong`);
    const answer = { ...refusal, json: { ...refusal.json, variable } };
    respondTo(/^\/v/, answer);
    const finding = await findOnly();
    assert.match(finding.found, RegExp(variable));
    assert.match(finding.action, action);
  });
}

test("the doctor ignores a gateway without a Date header", async () => {
  respondTo(/^\/healthz$/, { headers: { date: "" }, json: {} });
  const { wrong, findings } = await runDoctor();
  assert.deepEqual(wrong, []);
  assert.match(findings.find(({ check }) => check === "clock").found, /^not known/);
});

test("the doctor prints no part of the token", async () => {
  const own = token();
  const { stdout, stderr } = await runDoctor({ env: { QUILLGATE_TOKEN: own } });
  for (const part of own.split(".")) assert.ok(!`${stdout}${stderr}`.includes(part));
});
