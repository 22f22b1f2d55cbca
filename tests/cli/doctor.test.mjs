/** What the doctor finds, and what it says to do. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { runCommand } from "./command_line.mjs";
import { budgetFields, PROJECT, problem, startStandIn } from "./stand_in.mjs";

const DAY_S = 86_400;
/** What an archive without a day that fails answers. */
const ARCHIVE = {
  ...{ complete: 28, failed: 0, missing: [{ dateFrom: "2026-01-03", dateTo: "2026-01-05" }] },
  completeAt: "2026-02-01T01:00:00Z",
};
const isArchive = ({ path }) => path.endsWith("/views/daily/status");
let server;
let folder;
let instead;

before(async () => {
  const answerArchive = (received) => (isArchive(received) ? { json: ARCHIVE } : undefined);
  server = await startStandIn({
    instead: (...args) => instead?.(...args) ?? answerArchive(...args),
  });
});
after(() => server.stop());
beforeEach(() => {
  instead = undefined;
  server.requests.length = 0;
  folder = mkdtempSync(join(tmpdir(), "quillgate-doctor-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A token with these claims changed. */
function token(changes = {}) {
  const grant = { sub: "alice", projects: [PROJECT], scope: "jobs:read analytics:read" };
  return mintToken({ ...accessClaims(grant), ...changes }, newSecret());
}

async function examine({ env = {}, args = [] } = {}) {
  const settings = {
    ...{ QUILLGATE_BASE_URL: server.url, QUILLGATE_PROJECT_ID: PROJECT },
    ...{ QUILLGATE_TOKEN: token(), ...env },
  };
  const result = await runCommand(["doctor", "--json", ...args], { env: settings, folder });
  assert.equal(result.stdout[0], "[", result.stderr);
  const findings = JSON.parse(result.stdout);
  const wrong = findings.filter(({ level }) => level !== "ok");
  return { ...result, findings, wrong, checks: findings.map(({ check }) => check) };
}

/** The only finding that is not well. */
async function onlyFinding(options) {
  const { wrong, code } = await examine(options);
  assert.equal(wrong.length, 1, JSON.stringify(wrong));
  assert.ok(wrong[0].action.length > 0);
  assert.equal(code, wrong[0].level === "problem" ? 10 : 0);
  return wrong[0];
}

test("where all is well it says so of each thing, and uses one request at most", async () => {
  const { code, checks, wrong } = await examine();
  assert.deepEqual(wrong, []);
  assert.equal(code, 0);
  assert.deepEqual(checks, [
    ...["versions", "project", "credential", "scopes", "expiry", "base URL", "clock"],
    ...["versions", "jobs:read", "analytics:read", "budget", "archive"],
  ]);
  // What the archive answers comes from the gateway's own database.
  const counted = server.requests.filter(({ path }) => /^\/v1\/(?!.*\/daily\/)/.test(path));
  assert.equal(counted.length, 1);
});

test("for people it is a line each, with what to do below what is wrong", async () => {
  const env = { QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_BASE_URL: server.url, NO_COLOR: "1" };
  const { code, stdout, stderr } = await runCommand(["doctor"], { env, folder });
  assert.equal(code, 10);
  assert.match(stdout, /^ok {7}versions {8} quillgate \d/m);
  assert.match(stdout, /^PROBLEM {2}credential {7}there is none\n {26}set QUILLGATE_TOKEN/m);
  assert.match(stderr, /^quillgate: 1 problem$/m);
});

test("colours are for terminals, and not with NO_COLOR", async () => {
  const env = { QUILLGATE_PROJECT_ID: PROJECT, QUILLGATE_BASE_URL: server.url };
  const shown = await runCommand(["doctor"], { env, folder, columns: 100 });
  assert.ok(shown.stdout.includes("\u001b[31mPROBLEM\u001b[0m"));
  const plain = await runCommand(["doctor"], {
    env: { ...env, NO_COLOR: "1" },
    folder,
    columns: 100,
  });
  assert.ok(!plain.stdout.includes("\u001b["));
});

test("a token that has expired, or soon will", async () => {
  const now = Math.floor(Date.now() / 1000);
  const expired = await onlyFinding({ env: { QUILLGATE_TOKEN: token({ exp: now - 60 }) } });
  assert.match(expired.found, /^the token expired at \d{4}-/);
  assert.equal(expired.level, "problem");
  const soon = await onlyFinding({ env: { QUILLGATE_TOKEN: token({ exp: now + DAY_S }) } });
  assert.match(soon.found, /^the token expires at/);
  assert.equal(soon.level, "warning");
});

test("a token for another project", async () => {
  const { check, found } = await onlyFinding({
    env: { QUILLGATE_TOKEN: token({ projects: ["other"] }) },
  });
  assert.deepEqual([check, found], ["scopes", "the token is not for demo-docs, but for other"]);
  assert.ok(!server.requests.some(({ path }) => path.startsWith("/v")), "nothing else is asked");
  // An issuer's token names no projects, and only the gateway knows.
  instead = ({ path }) =>
    path.startsWith("/v") ? problem(403, "project-not-allowed", "not for this project") : undefined;
  const told = await onlyFinding({ env: { QUILLGATE_TOKEN: token({ projects: undefined }) } });
  assert.equal(told.check, "project");
  assert.match(told.action, /check the project's identifier/);
});

for (const [what, value, message] of [
  ["an ellipsis", "…", /QUILLGATE_TOKEN holds no credential: it has a character that is not ASCII/],
  ["quotes", `"a.b.c"`, /it has a quotation mark: give it without quotes/],
  ["a space", "a b", /it has a space/],
  ["the platform's admin key", "mint_secret", /QUILLGATE_TOKEN holds the platform's admin key/],
]) {
  test(`a credential that has ${what} ends no other check`, async () => {
    const { wrong, checks, stdout } = await examine({ env: { QUILLGATE_TOKEN: value } });
    assert.deepEqual(
      wrong.map(({ check }) => check),
      ["credential"],
    );
    assert.match(wrong[0].found, message);
    assert.match(wrong[0].action, /ask whoever runs the gateway/);
    assert.ok(checks.includes("clock"));
    assert.ok(!stdout.includes("mint_secret"));
    assert.ok(!server.requests.some(({ headers }) => headers.authorization !== undefined));
  });
}

test("what is no token, and an admin key in its place", async () => {
  const { wrong } = await examine({ env: { QUILLGATE_TOKEN: "not-a-token" } });
  assert.match(wrong[0].found, /what QUILLGATE_TOKEN holds is no token/);
  const { found } = await onlyFinding({
    env: { QUILLGATE_TOKEN: "", QUILLGATE_ADMIN_KEY: "not-a-key" },
  });
  assert.match(found, /is no admin key/);
});

test("a token that the gateway does not accept, or not for this", async () => {
  instead = ({ path }) =>
    path.startsWith("/v") ? problem(401, "unauthorized", "the token is revoked") : undefined;
  const refused = await onlyFinding();
  assert.match(refused.found, /401: the token is revoked/);
  instead = ({ path }) =>
    path.startsWith("/v1") ? problem(403, "forbidden", "not allowed") : undefined;
  const forbidden = await onlyFinding();
  assert.deepEqual(
    [forbidden.check, forbidden.action],
    ["analytics:read", "ask for a token with the scope analytics:read"],
  );
});

for (const [what, seconds, words] of [
  ["ahead", -120, /this clock is 1(19|20|21) s ahead/],
  ["behind", 120, /this clock is 1(19|20|21) s behind/],
]) {
  test(`a clock that is ${what}`, async () => {
    instead = ({ path }) => {
      const date = new Date(Date.now() + seconds * 1000).toUTCString();
      return path === "/healthz" ? { headers: { date }, json: {} } : undefined;
    };
    const { check, found } = await onlyFinding();
    assert.equal(check, "clock");
    assert.match(found, words);
  });
}

test("a gateway of another release", async () => {
  const json = { info: { version: "9.1.0" } };
  instead = ({ path }) => (path === "/openapi.json" ? { json } : undefined);
  const { check, level, found } = await onlyFinding();
  assert.deepEqual([check, level, found], ["versions", "warning", "the gateway is 9.1.0"]);
});

test("a budget that is spent", async () => {
  instead = ({ path }) =>
    path.startsWith("/v1") && !isArchive({ path })
      ? problem(429, "rate-limited", "none left", {
          ...budgetFields(0, 2900),
          "retry-after": "2900",
        })
      : undefined;
  const { check, level, found } = await onlyFinding();
  assert.deepEqual([check, level], ["budget", "problem"]);
  assert.equal(found, "analytics: 0 of 100 left, more in 49 min");
});

test("a budget that is spent while the gateway answers what it had kept", async () => {
  const kept = { ...budgetFields(0, 90), "cache-status": "quillgate; hit; detail=quota-exceeded" };
  instead = ({ path, headers }) => {
    if (!path.startsWith("/v1") || isArchive({ path })) return undefined;
    // Otherwise the gateway says nothing of its budget.
    const isAsked = headers["cache-control"] === "no-cache";
    return { headers: isAsked ? kept : {}, json: { totals: {}, views: [], hasMore: false } };
  };
  const { check, level, found } = await onlyFinding();
  assert.deepEqual([check, level], ["budget", "problem"]);
  assert.equal(found, "analytics: 0 of 100 left, more in 90 s");
});

for (const [what, url, words] of [
  ["nothing answers", "http://127.0.0.1:1", /does not answer/],
  ["it is none", "gate.example", /must be an address such as/],
  ["it has a password", "https://user:secret@gate.example", /no credentials/],
]) {
  test(`a base URL: ${what}`, async () => {
    const { check, found } = await onlyFinding({ env: { QUILLGATE_BASE_URL: url } });
    assert.equal(check, "base URL");
    assert.match(found, words);
    assert.ok(!found.includes("secret"));
  });
}

test("a host that is not known is no reason to look at what arrives", async () => {
  const env = { QUILLGATE_BASE_URL: "https://gate.invalid" };
  const { found, action } = await onlyFinding({ env });
  assert.match(found, /does not answer \((ENOTFOUND|EAI_AGAIN)\)/);
  assert.ok(!action.includes("wrangler"), action);
});

test("a base URL that is not a gateway's", async () => {
  instead = ({ path }) => (path === "/healthz" ? { status: 404 } : undefined);
  const { found, action } = await onlyFinding();
  assert.match(found, /\/healthz answers 404/);
  assert.match(action, /is it a gateway's address/);
});

test("a token's file that other users may read", {
  skip: process.platform === "win32",
}, async () => {
  const file = join(folder, "token");
  writeFileSync(file, token());
  const env = { QUILLGATE_TOKEN: "" };
  const args = ["--token-file", "token"];
  chmodSync(file, 0o644);
  const { check, level, action } = await onlyFinding({ env, args });
  assert.deepEqual([check, level, action], ["file", "warning", `chmod 600 ${file}`]);
  chmodSync(file, 0o600);
  assert.deepEqual((await examine({ env, args })).wrong, []);
});

for (const [what, answer, level, found, action] of [
  ["that lacks days", { json: ARCHIVE }, "ok", /^28 days held, 2 missing, complete at 2026-02-01T/],
  ["that has all", { json: { complete: 1, missing: [] } }, "ok", /^1 day held, none missing$/],
  [
    "with days that fail",
    { json: { ...ARCHIVE, failed: 1 } },
    ...["warning", /^28 days held, 2 missing$/, /quillgate archive status/],
  ],
  [
    "of other projects",
    problem(501, "archive-not-configured", "ARCHIVE_PROJECTS has to name it"),
    ...["ok", /^there is none: ARCHIVE_PROJECTS has to name it$/],
  ],
  [
    "without tables",
    problem(501, "archive-not-configured", "no tables: `wrangler d1 migrations apply ARCHIVE`"),
    ...["problem", /answers 501: no tables/, /wrangler d1 migrations apply ARCHIVE --local$/],
  ],
  ["that fails", problem(500, "internal", "it failed"), "problem", /500: it failed/, /log/],
]) {
  test(`an archive ${what}`, async () => {
    instead = (received) => (isArchive(received) ? answer : undefined);
    const { findings } = await examine();
    const finding = findings.find(({ check }) => check === "archive");
    assert.equal(finding.level, level, JSON.stringify(finding));
    assert.match(finding.found, found);
    if (action === undefined) assert.equal(finding.action, null);
    else assert.match(finding.action, action);
  });
}

test("a token that may not read reports is not asked about the archive", async () => {
  const { checks } = await examine({ env: { QUILLGATE_TOKEN: token({ scope: "jobs:read" }) } });
  assert.ok(!checks.includes("archive"));
});

for (const [variable, action] of [
  ["ADMIN_API_KEY", /^the operator sets it: npx wrangler secret put ADMIN_API_KEY$/],
  ["TRUSTED_ISSUERS", /\[vars\] of wrangler\.toml/],
]) {
  test(`a gateway whose ${variable} is wrong`, async () => {
    const refusal = problem(500, "misconfigured", `the gateway's variable ${variable} is wrong`);
    const answer = { ...refusal, json: { ...refusal.json, variable } };
    instead = ({ path }) => (path.startsWith("/v") ? answer : undefined);
    const finding = await onlyFinding();
    assert.match(finding.found, RegExp(variable));
    assert.match(finding.action, action);
  });
}

test("the secrets that it names are those of the gateway's package", async () => {
  const { SECRETS } = await import("../../gateway/src/secrets.js");
  for (const variable of SECRETS) {
    const refusal = problem(500, "misconfigured", "is wrong");
    const answer = { ...refusal, json: { ...refusal.json, variable } };
    instead = ({ path }) => (path.startsWith("/v") ? answer : undefined);
    assert.match((await onlyFinding()).action, RegExp(`^the operator sets it: .* ${variable}$`));
  }
});

test("a local gateway that does not say its time is nothing to do about", async () => {
  instead = ({ path }) => (path === "/healthz" ? { headers: { date: "" }, json: {} } : undefined);
  const { wrong, findings } = await examine();
  assert.deepEqual(wrong, []);
  assert.match(findings.find(({ check }) => check === "clock").found, /^not known/);
});

test("nothing that it says holds the token", async () => {
  const own = token();
  const { stdout, stderr } = await examine({ env: { QUILLGATE_TOKEN: own } });
  for (const part of own.split(".")) assert.ok(!`${stdout}${stderr}`.includes(part));
});
