import assert from "node:assert/strict";
import { test } from "node:test";
import { mintToken } from "../harness/token.mjs";
import { importRows, importSource } from "./source.mjs";

const { allows, differOnlyInExpiry } = await importSource("session/claims.ts");
const { complainAboutToken, extractToken } = await importSource("session/access_token.ts");
const { firstLine, isFinished, jobState } = await importSource("jobs/job_state.ts");
const { readJobId } = await importSource("jobs/jobs_address.ts");
const { describeProblem } = await importSource("shell/problem.ts");
const { describeSendProblem } = await importSource("sending/send_problem.ts");
const { changeAddress, formatAddress, parseAddress } = await importSource("address_parts.ts");
const { requestedRoute } = await importSource("shell/route_names.ts");
const { duration, formatLocale, percent, share, signedCount, wholePercent } =
  await importSource("shell/wording.ts");
const { tightestLimit } = await importSource("shell/rate_limit.ts");
const { stalenessOf } = await importSource("analytics/period/staleness.ts");

const NOW = Date.parse("2026-11-21T09:00:00Z");
const SECRET = "s".repeat(32);
const complaint = (claims) =>
  complainAboutToken(mintToken({ iss: "quillgate", sub: "zoë", ...claims }, SECRET));

test("numbers and dates are English, with the reader’s region", () => {
  const format = (...languages) => {
    const locale = formatLocale(languages);
    const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
    return `${new Intl.NumberFormat(locale).format(1234.5)} ${date.format(0)}`;
  };
  assert.equal(format("ar-EG"), "1,234.5 Jan 1, 1970");
  assert.equal(format("th-TH", "th"), "1,234.5 Jan 1, 1970");
  assert.equal(format("de"), "1.234,5 1 Jan 1970");
  assert.equal(format("de", "en-US"), "1,234.5 Jan 1, 1970");
  assert.equal(format("en-GB"), "1,234.5 1 Jan 1970");
  assert.equal(format(), "1,234.5 Jan 1, 1970");
  for (const invalid of ["en-US@posix", "en_US.UTF-8", "C", "POSIX", "", "*", "x"]) {
    assert.equal(format(invalid), "1,234.5 Jan 1, 1970", invalid);
    assert.equal(format(invalid, "en-GB"), "1,234.5 1 Jan 1970", invalid);
  }
  assert.equal(format("C", "de"), "1.234,5 1 Jan 1970");
});

test("a negative difference has a minus sign, not a hyphen", () => {
  assert.equal(signedCount(-467), "\u2212467");
  assert.equal(signedCount(467), "+467");
});

test("only nothing is 0%, and only everything is 100%", () => {
  const words = (part) => [wholePercent(part), percent(part), share(part, 1)];
  assert.deepEqual(words(0), ["0%", "0%", "0%"]);
  assert.deepEqual(words(0.0004), ["<1%", "<0.1%", "<0.1%"]);
  assert.deepEqual(words(0.004), ["<1%", "0.4%", "0.4%"]);
  assert.deepEqual(words(0.0125), ["1%", "1.3%", "1.3%"]);
  assert.deepEqual(words(0.857), ["86%", "86%", "85.7%"]);
  assert.deepEqual(words(0.996), ["99%", "99%", "99.6%"]);
  assert.deepEqual(words(0.9996), ["99%", "99%", "99.9%"]);
  assert.deepEqual(words(1), ["100%", "100%", "100%"]);
  assert.deepEqual(words(1.5), ["150%", "150%", "150%"]);
});

test("an access token passes whatever its expiry, because this clock may be wrong", () => {
  for (const exp of [undefined, 0, NOW / 1000, -1e300]) assert.equal(complaint({ exp }), null);
});

test("text that is not an access token is rejected", () => {
  assert.match(complainAboutToken("  "), /Paste/);
  for (const text of ["hello", "a.b", "a.b.c", `${btoa("{}")}.${btoa("[]")}.x`, "ä.ö.ü"]) {
    assert.match(complainAboutToken(text), /isn’t an access token/, text);
  }
});

test("a token is read from what terminals, chats and scripts paste", () => {
  const token = "eyJhbGciOi.eyJpc3Mi_-.c2ln-_";
  for (const text of [
    ` ${token}\n`,
    token.replace(/(.{8})/g, "$1\r\n"),
    ...[`Bearer ${token}`, `bearer\n${token}`, `Authorization: Bearer ${token}`],
    ...[`"${token}"`, `'${token}'`, `\`${token}\``, `“${token}”`, `"Bearer ${token}"`],
    ...[`${token}\u200b`, `\ufeff${token}`, token.replace(".", ".\u200d"), `\u00a0${token}`],
    ...[`QUILLGATE_TOKEN=${token}`, `export QUILLGATE_TOKEN="${token}"`, `TOKEN = '${token}';`],
    ...[`set QUILLGATE_TOKEN=${token}`, `$env:QUILLGATE_TOKEN = "${token}"`],
  ]) {
    assert.equal(extractToken(text), token, text);
  }
  assert.equal(extractToken(' "" '), "");
  assert.equal(extractToken("exported.bearings.setting"), "exported.bearings.setting");
});

test("a Mintlify API key is rejected without repeating it", () => {
  const complaint = complainAboutToken("mint_secret123");
  assert.match(complaint, /Mintlify API key/);
  assert.doesNotMatch(complaint, /secret123/);
});

const session = {
  issuer: null,
  subject: null,
  projects: [],
  archivedProjects: [],
  scopes: ["jobs:read"],
  keepsPrompts: "whole",
  expiresAt: NOW,
};

test("a session allows only its scopes", () => {
  assert.equal(allows(session, "jobs:read"), true);
  assert.equal(allows(session, "jobs:create"), false);
});

test("a renewal changes only the expiry of a session", () => {
  assert.equal(differOnlyInExpiry(session, { ...session, expiresAt: 0 }), true);
  for (const change of [
    { issuer: "a" },
    { subject: "a" },
    { projects: ["a"] },
    { archivedProjects: ["a"] },
    { scopes: [] },
    { keepsPrompts: "first-line" },
  ]) {
    assert.equal(differOnlyInExpiry(session, { ...session, ...change }), false);
  }
});

test("a job’s state has a word that the visitor understands", () => {
  const word = (status, prLink = null) => jobState({ status, prLink }).word;
  assert.equal(word("active"), "Working");
  assert.equal(word("completed", "https://github.com/a/b/pull/1"), "Pull request ready");
  const mergeRequest = "https://git.example/a/b/-/merge_requests/1";
  assert.equal(word("completed", mergeRequest), "Merge request ready");
  for (const link of [null, "", "null"]) assert.equal(word("completed", link), "No changes");
  assert.equal(word("failed"), "Failed");
  assert.equal(word("archived"), "Archived");
  assert.equal(word("waiting for review"), "Waiting for review");
  assert.equal(word("needs_review"), "Needs review");
  assert.equal(word(null), "Not known yet");
  assert.equal(jobState(null).word, "Not known yet");
});

test("a job is finished only in a known final state", () => {
  const finished = (status) => isFinished({ status });
  assert.ok(finished("completed") && finished("failed") && finished("archived"));
  assert.ok(!finished("active") && !finished("queued") && !finished(null));
});

test("a job’s id is read from quoted text and from links", () => {
  const link = "https://gate.example/?route=jobs&project=acme&job=job-1";
  for (const text of [
    ...["job-1", " job-1\n", '"job-1"', "“job-1”", "`job-1`,".slice(0, -1), "\u200bjob-1", link],
    ...["https://app.mintlify.com/acme/acme/agent?job=job-1#x", ` ${link} `],
    "https://api.mintlify.com/v2/agent/acme/job/job-1/message",
  ]) {
    assert.equal(readJobId(text), "job-1", text);
  }
  assert.equal(readJobId("https://docs.example.com/a"), "https://docs.example.com/a");
  assert.equal(readJobId(' "" '), "");
});

test("a job’s first line skips empty lines", () => {
  assert.equal(firstLine("\n  Fix the typos\r\nin all pages"), "Fix the typos");
  assert.equal(firstLine(""), "");
});

const errorOf = (name, fields) => Object.assign(new Error("it went wrong"), { name, ...fields });
const describeError = (name, fields) => describeProblem(errorOf(name, fields), NOW);
const describeSending = (name, fields) => describeSendProblem(errorOf(name, fields), NOW);

test("a problem has a cause, a remedy and the request id", () => {
  const problem = describeError("ServerError", {
    status: 502,
    requestId: "r1",
    problem: { detail: "Mintlify sent HTML" },
  });
  assert.equal(problem.cause, "Mintlify sent HTML (502)");
  assert.equal(problem.requestId, "r1");
  assert.equal(problem.remedy, "retry");
});

test("a 401 or 403 leads to sign-in", () => {
  assert.equal(describeError("AuthenticationError", { status: 401 }).remedy, "sign in");
  assert.equal(describeError("PermissionError", { status: 403 }).remedy, "sign in");
});

test("a 429 names the time of the next attempt", () => {
  const problem = describeError("RateLimitError", { status: 429, retryAfter: 90 });
  assert.equal(problem.retryAt, NOW + 90_000);
  assert.equal(describeError("RateLimitError", { status: 429 }).retryAt, null);
});

test("a 400 names the invalid fields", () => {
  const errors = [{ field: "limit", detail: "must be at most 250" }];
  const problem = describeError("BadRequestError", { status: 400, problem: { errors } });
  assert.match(problem.cause, /must be at most 250/);
  assert.equal(problem.remedy, "other input");
});

test("a used-up limit names its owner", () => {
  const limited = (...policies) =>
    describeError("RateLimitError", {
      status: 429,
      code: "/problems/quota-exceeded",
      retryAfter: 90,
      problem: { "violated-policies": policies },
    });
  assert.match(limited("create-job").title, /project has reached its limit for new jobs/);
  assert.match(limited("send-message").title, /project has reached its limit for follow-ups/);
  assert.match(limited("analytics").title, /organization has reached its limit for analytics/);
  assert.match(limited("create-job-caller").title, /your own quota/);
  assert.match(limited("later-invention").title, /reached a limit/);
  assert.deepEqual([limited().isLimit, limited().retryAt], [true, NOW + 90_000]);
});

test("the cause of a used-up limit names its number, its time span and who used it", () => {
  const code = "/problems/quota-exceeded";
  const causeOf = (detail) => describeError("RateLimitError", { code, problem: { detail } }).cause;
  const hour = "in any 3600 seconds";
  const causes = [
    [`create-job: the limit of 100 ${hour} is used up`, "This project has used all 100 this hour."],
    [
      `analytics: the limit of 1 ${hour} is used up`,
      "Your organization has used the only one this hour.",
    ],
    [
      "read-jobs: the limit of 20 in any 60 seconds is used up",
      "You’ve used all 20 in the last 60 seconds.",
    ],
    [
      `create-job: the access token's own quota of 5 ${hour} is used up`,
      "You’ve used all 5 this hour.",
    ],
    [
      `create-job: the ceiling of 9 ${hour} for all callers of the access token's rule is used up`,
      "You and others with the same access have used all 9 this hour.",
    ],
    [
      "create-job: Mintlify itself answered that its limit is reached",
      "Mintlify itself answered that its limit is reached",
    ],
  ];
  for (const [detail, cause] of causes) assert.equal(causeOf(detail), cause);
});

test("each refusal of Mintlify names its reason, and only a rejected key blames the key", () => {
  const titles = ["credential", "plan", "project", "blocked"].map((reason) => {
    const code = `/problems/upstream-${reason}`;
    const { title, cause } = describeError("ServerError", { status: 502, code, problem: {} });
    assert.equal(/key/.test(title + cause), reason === "credential", title);
    return title;
  });
  assert.equal(new Set(titles).size, 4);
  for (const [status, kind] of [
    [500, "internal"],
    [500, "misconfigured"],
    [503, "object-unavailable"],
  ]) {
    const { title } = describeError("ServerError", { status, code: `/problems/${kind}` });
    assert.match(title, /gateway/);
  }
});

test("a conflict of idempotency keys advises whether to wait or send again", () => {
  const described = (status, kind) => describeSending("X", { status, code: `/problems/${kind}` });
  const inUse = described(409, "idempotency-key-in-use");
  assert.match(inUse.advice, /result of the first attempt/);
  assert.equal(inUse.remedy, "retry");
  const reused = described(422, "idempotency-key-reused");
  assert.match(reused.advice, /Send it again/);
  assert.equal(reused.remedy, "retry");
});

test("a request whose job record was deleted offers no further attempt", () => {
  const problem = describeSending("X", { status: 409, code: "/problems/record-deleted" });
  assert.match(problem.title, /sent this before/);
  assert.equal(problem.remedy, "other input");
});

test("an unknown outcome asks the visitor to check first, with any status", () => {
  for (const status of [409, 502, 504]) {
    assert.equal(describeSending("OutcomeUnknownError", { status }).remedy, "look first");
  }
});

test("the problem of a lost write says that repeating it is safe", () => {
  const lost = Object.assign(new Error("no answer"), { name: "ConnectionError" });
  assert.match(describeSendProblem(lost, NOW).advice, /only once/);
  assert.doesNotMatch(describeProblem(lost, NOW).advice, /only once/);
});

test("anything that was thrown has a description", () => {
  assert.equal(describeProblem("oops", NOW).cause, "Oops");
  assert.match(describeError("ConnectionError").title, /couldn’t reach/);
});

const defaults = parseAddress("");
const views = changeAddress(defaults, {
  route: "views",
  project: "acme",
  analytics: {
    range: "last-month",
    sorting: { column: "human", direction: "ascending" },
    filter: "a b&c",
  },
});

test("the address contains route, project, range, order and filter", () => {
  assert.deepEqual(parseAddress(formatAddress(views)), views);
  const days = changeAddress(views, {
    analytics: { range: { from: "2026-11-01", to: "2026-11-30" } },
  });
  assert.deepEqual(parseAddress(formatAddress(days)), days);
});

test("the address of a job contains the project and the job", () => {
  const job = changeAddress(defaults, { project: "acme", jobs: { id: "job 1" } });
  assert.equal(formatAddress(job), "?route=jobs&project=acme&job=job+1");
  assert.deepEqual(parseAddress(formatAddress(job)), job);
  assert.equal(requestedRoute("?project=acme&job=1"), "jobs");
});

test("the address supports every preset, comparison, arrangement and column", async () => {
  const { COMPARISONS, PRESETS } = await importSource("analytics/period/range.ts");
  const { ARRANGEMENTS } = await importRows("arrangement.ts");
  const { REPORTS } = await importRows("report.ts");
  const columns = Object.values(REPORTS).flatMap((report) => report.columns);
  const roundTrip = (name, value) => {
    const { analytics } = parseAddress(`?route=views&${name}=${value}`);
    return parseAddress(formatAddress({ ...defaults, route: "views", analytics })).analytics;
  };
  for (const { id } of PRESETS) assert.equal(roundTrip("range", id).range, id);
  for (const { id } of COMPARISONS) assert.equal(roundTrip("compare", id).comparison, id);
  for (const { id } of ARRANGEMENTS) assert.equal(roundTrip("show", id).arrangement, id);
  for (const { id } of columns) assert.equal(roundTrip("sort", id).sorting.column, id);
});

test("the address leaves out what other routes need", () => {
  const filtered = changeAddress(defaults, { route: "views", analytics: { filter: "/guides" } });
  assert.equal(changeAddress(filtered, { route: "visitors" }).analytics.filter, "/guides");
  assert.equal(changeAddress(filtered, { route: "searches" }).analytics.filter, "");
  const everywhere = changeAddress(views, { route: "jobs" });
  assert.equal(formatAddress(everywhere), "?route=jobs&project=acme");
});

test("an address without a valid route requests none", () => {
  assert.equal(requestedRoute(""), null);
  assert.equal(requestedRoute("?route=nonsense&project=acme"), null);
});

test("an invalid address falls back to the defaults", () => {
  const nonsense = "?route=x&range=y&from=2026-02-30&to=2026-01-01&sort=-z";
  const { analytics, ...others } = parseAddress(nonsense);
  assert.deepEqual({ ...others, analytics: { ...analytics, hasInvalidDates: false } }, defaults);
  assert.equal(defaults.project, null);
});

test("durations are short", () => {
  const texts = [0, 59_999, 185_000, 7_800_000, 400_000_000].map(duration);
  assert.deepEqual(texts, ["0 s", "59 s", "3 min 05 s", "2 h 10 min", "4 days"]);
  assert.equal(duration(-5), "0 s");
});

const limitOf = (policy, left) =>
  tightestLimit(new Headers({ "ratelimit-policy": policy, ratelimit: left }), NOW);

test("the tightest limit of a response is shown", () => {
  const policies = '"create-job";q=100;w=3600, "create-job-caller";q=10;w=3600';
  assert.deepEqual(limitOf(policies, '"create-job";r=41;t=1800, "create-job-caller";r=3'), {
    policy: "create-job-caller",
    quota: 10,
    window: 3_600_000,
    left: 3,
    at: NOW,
    freesAt: null,
  });
  assert.equal(limitOf(policies, '"create-job";r=2').policy, "create-job");
  assert.equal(limitOf(policies, '"create-job";r=2;t=90').freesAt, NOW + 90_000);
});

test("a response with an incomplete limit has none", () => {
  assert.equal(tightestLimit(new Headers(), NOW), null);
  assert.equal(limitOf('"a";q=1', '"a";r=1'), null);
  assert.equal(limitOf('"a";q=1;w=1', '"b";r=1'), null);
  assert.equal(limitOf("nonsense", "nonsense"), null);
});

test("Cache-Status and Age show that a response is stale, since when and why", () => {
  const staleness = (cacheStatus, age = "60") =>
    stalenessOf(new Headers({ "cache-status": cacheStatus, age }), NOW);
  const failed = "quillgate; fwd=stale; fwd-status=500; ttl=-12; detail=stale";
  assert.deepEqual(staleness(failed), { asOf: NOW - 60_000, why: "no answer" });
  const notRenewed = "quillgate; fwd=request; fwd-status=502; ttl=86000";
  assert.deepEqual(staleness(notRenewed), { asOf: NOW - 60_000, why: "no answer" });
  assert.equal(staleness("quillgate; fwd=stale; stored"), null);
  assert.equal(staleness("quillgate; fwd=uri-miss; collapsed"), null);
  const spent = "quillgate; hit; ttl=-12; detail=quota-exceeded";
  assert.deepEqual(staleness(spent), { asOf: NOW - 60_000, why: "limit used up" });
  assert.equal(staleness("quillgate; hit; ttl=123"), null);
  assert.equal(staleness("quillgate; fwd=stale; stored"), null);
  assert.equal(staleness("quillgate; hit; detail=stale-ish"), null);
  assert.equal(stalenessOf(new Headers({ "cache-status": failed }), NOW), null);
  assert.equal(stalenessOf(new Headers(), NOW), null);
});
