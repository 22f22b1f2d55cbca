import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { mintToken } from "../harness/token.mjs";
import { importSource } from "./source.mjs";

const { allows, hasSameRights } = await importSource("session/claims.ts");
const { complainAboutToken } = await importSource("session/access_token.ts");
const { firstLine, isFinished, jobState, pullRequest } = await importSource("jobs/job_state.ts");
const { describeProblem } = await importSource("shell/problem.ts");
const { describeSendProblem } = await importSource("jobs/send_problem.ts");
const { changeAddress, formatAddress, parseAddress } = await importSource("shell/address.ts");
const { requestedRoute } = await importSource("shell/route_names.ts");
const { duration, limitNote } = await importSource("shell/wording.ts");
const { tightestLimit } = await importSource("shell/rate_limit.ts");
const { stalenessOf } = await importSource("analytics/staleness.ts");

const NOW = Date.parse("2026-11-21T09:00:00Z");
const SECRET = "s".repeat(32);
const claims = (changes) => ({ iss: "quillgate", sub: "zoë", exp: NOW / 1000 + 60, ...changes });
const complaint = (changes) => complainAboutToken(mintToken(claims(changes), SECRET), NOW);

test("each class of a route's styles is that route's alone, since styles stay when it is left", async () => {
  const rooms = ["jobs", "views", "sign_in"];
  const texts = await Promise.all(
    rooms.map((room) => readFile(join(ROOT, "www", "src", "styles", `${room}.css`), "utf8")),
  );
  const owned = texts.map((text) => new Set(text.match(/^\.[a-z][\w-]*/gm)));
  for (const [at, classes] of owned.entries()) {
    assert.ok(classes.size > 3, rooms[at]);
    for (const other of owned.slice(at + 1)) {
      const shared = [...classes].filter((name) => other.has(name));
      assert.deepEqual(shared, []);
    }
  }
});

describe("an access token", () => {
  test("is worth a request when nothing can be told against it", () => {
    assert.equal(complaint(), null);
    assert.equal(complaint({ exp: undefined }), null);
    assert.equal(complaint({ exp: -1e300 }), null);
  });

  test("that has expired is refused", () => {
    assert.match(complaint({ exp: NOW / 1000 }), /expired on Nov 21, 2026/);
  });

  test("is told from other text", () => {
    assert.match(complainAboutToken("  ", NOW), /Paste/);
    for (const text of ["hello", "a.b", "a.b.c", `${btoa("{}")}.${btoa("[]")}.x`, "ä.ö.ü"]) {
      assert.match(complainAboutToken(text, NOW), /not an access token/, text);
    }
  });

  test("is told from the platform's key, which is not repeated", () => {
    const said = complainAboutToken("mint_secret123", NOW);
    assert.match(said, /key of the platform/);
    assert.doesNotMatch(said, /secret123/);
  });
});

test("a session allows its scopes and no others", () => {
  const session = {
    issuer: null,
    subject: null,
    projects: [],
    scopes: ["jobs:read"],
    expiresAt: NOW,
  };
  assert.equal(allows(session, "jobs:read"), true);
  assert.equal(allows(session, "jobs:create"), false);
  assert.equal(hasSameRights(session, { ...session, expiresAt: 0 }), true);
  for (const change of [{ issuer: "a" }, { subject: "a" }, { projects: ["a"] }, { scopes: [] }]) {
    assert.equal(hasSameRights(session, { ...session, ...change }), false);
  }
});

describe("a job", () => {
  test("is called by what it means for the person", () => {
    const word = (status, prLink = null) => jobState({ status, prLink }).word;
    assert.equal(word("active"), "Working");
    assert.equal(word("completed", "https://github.com/a/b/pull/1"), "Pull request ready");
    assert.equal(word("completed"), "Done, no changes");
    assert.equal(word("failed"), "Failed");
    assert.equal(word("archived"), "Archived");
    assert.equal(word("waiting for review"), "waiting for review");
    assert.equal(word(null), "Not known yet");
    assert.equal(jobState(null).word, "Not known yet");
  });

  test("is finished only in a state that is known to be final", () => {
    const finished = (status) => isFinished({ status });
    assert.ok(finished("completed") && finished("failed") && finished("archived"));
    assert.ok(!finished("active") && !finished("queued") && !finished(null));
  });

  test("links to its pull request by a short name", () => {
    const link = "https://github.com/acme/docs/pull/12/files";
    assert.deepEqual(pullRequest(link), { href: link, name: "acme/docs#12" });
    assert.equal(pullRequest("https://git.example/a/pull/1").name, "git.example/a/pull/1");
  });

  test("does not link to what is no plain https address", () => {
    for (const link of [
      "http://github.com/acme/docs/pull/1",
      "javascript:alert(1)",
      "data:text/html,x",
      "https://github.com@evil.example/acme/docs/pull/1",
      "//github.com/a/b/pull/1",
      "nonsense",
    ]) {
      assert.equal(pullRequest(link), null, link);
    }
  });

  test("is titled by its prompt's first line", () => {
    assert.equal(firstLine("\n  Fix the typos\r\nin all pages"), "Fix the typos");
    assert.equal(firstLine(""), "");
  });
});

describe("a problem", () => {
  const errorOf = (name, fields) => Object.assign(new Error("it went wrong"), { name, ...fields });
  const describeError = (name, fields) => describeProblem(errorOf(name, fields), NOW);
  const describeSending = (name, fields) => describeSendProblem(errorOf(name, fields), NOW);

  test("says why, what to do and what to quote", () => {
    const problem = describeError("ServerError", {
      status: 502,
      requestId: "r1",
      problem: { detail: "the platform sent HTML" },
    });
    assert.equal(problem.cause, "The platform sent HTML (status 502)");
    assert.equal(problem.requestId, "r1");
    assert.equal(problem.remedy, "retry");
  });

  test("that ends the session leads to sign-in", () => {
    assert.equal(describeError("AuthenticationError", { status: 401 }).remedy, "sign in");
    assert.equal(describeError("PermissionError", { status: 403 }).remedy, "sign in");
  });

  test("with the hourly limit says when to come back", () => {
    const problem = describeError("RateLimitError", { status: 429, retryAfter: 90 });
    assert.equal(problem.retryAt, NOW + 90_000);
    assert.equal(describeError("RateLimitError", { status: 429 }).retryAt, null);
  });

  test("with the input names what was wrong with it", () => {
    const errors = [{ field: "limit", detail: "must be at most 250" }];
    const problem = describeError("BadRequestError", { status: 400, problem: { errors } });
    assert.match(problem.cause, /must be at most 250/);
    assert.equal(problem.remedy, "other input");
  });

  test("with a limit says whose it is, and that a slot frees", () => {
    const limited = (...policies) =>
      describeError("RateLimitError", {
        status: 429,
        code: "/problems/quota-exceeded",
        retryAfter: 90,
        problem: { detail: "create-job: the limit is used up", "violated-policies": policies },
      });
    assert.match(limited("create-job").title, /project’s limit for new jobs/);
    assert.match(limited("send-message").title, /project’s limit for follow-ups/);
    assert.match(limited("analytics").title, /organisation’s limit/);
    assert.match(limited("create-job-caller").title, /Your own share/);
    assert.match(limited("later-invention").title, /limit is used up/);
    assert.equal(limited("create-job").cause, "The limit is used up (status 429)");
    assert.deepEqual([limited().isLimit, limited().retryAt], [true, NOW + 90_000]);
  });

  test("with an idempotency key says whether to wait or to send again", () => {
    const described = (status, kind) => describeSending("X", { status, code: `/problems/${kind}` });
    const inUse = described(409, "idempotency-key-in-use");
    assert.match(inUse.advice, /not a second job/);
    assert.equal(inUse.remedy, "retry");
    const reused = described(422, "idempotency-key-reused");
    assert.match(reused.advice, /new key/);
    assert.equal(reused.remedy, "retry");
  });

  test("of an unknown outcome asks to look first, whatever its status", () => {
    for (const status of [409, 502, 504]) {
      assert.equal(describeSending("OutcomeUnknownError", { status }).remedy, "look first");
    }
  });

  test("of a write without an answer says that it may be repeated", () => {
    const lost = Object.assign(new Error("no answer"), { name: "ConnectionError" });
    assert.match(describeSendProblem(lost, NOW).advice, /does it once/);
    assert.doesNotMatch(describeProblem(lost, NOW).advice, /does it once/);
  });

  test("is described whatever was thrown", () => {
    assert.equal(describeProblem("oops", NOW).cause, "Oops");
    assert.match(describeError("ConnectionError").title, /could not be reached/);
  });
});

describe("the page's address", () => {
  const usual = parseAddress("");
  const views = changeAddress(usual, {
    route: "views",
    project: "acme",
    analytics: {
      range: "last-month",
      sorting: { column: "human", direction: "ascending" },
      filter: "a b&c",
    },
  });

  test("keeps the route, the project, the range, the order and the filter", () => {
    assert.deepEqual(parseAddress(formatAddress(views)), views);
    const days = changeAddress(views, {
      analytics: { range: { from: "2026-11-01", to: "2026-11-30" } },
    });
    assert.deepEqual(parseAddress(formatAddress(days)), days);
  });

  test("keeps the project and the job of a link to one", () => {
    const job = changeAddress(usual, { project: "acme", jobs: { id: "job 1" } });
    assert.equal(formatAddress(job), "?route=jobs&project=acme&job=job+1");
    assert.deepEqual(parseAddress(formatAddress(job)), job);
    assert.equal(requestedRoute("?project=acme&job=1"), "jobs");
  });

  test("knows every word that the analytics offer", async () => {
    const { COMPARISONS, PRESETS } = await importSource("analytics/range.ts");
    const { ARRANGEMENTS } = await importSource("analytics/arrangement.ts");
    const { REPORTS } = await importSource("analytics/report.ts");
    const columns = Object.values(REPORTS).flatMap((report) => report.columns);
    const kept = (name, value) => {
      const { analytics } = parseAddress(`?route=views&${name}=${value}`);
      return parseAddress(formatAddress({ ...usual, route: "views", analytics })).analytics;
    };
    for (const { id } of PRESETS) assert.equal(kept("range", id).range, id);
    for (const { id } of COMPARISONS) assert.equal(kept("compare", id).comparison, id);
    for (const { id } of ARRANGEMENTS) assert.equal(kept("show", id).arrangement, id);
    for (const { id } of columns) assert.equal(kept("sort", id).sorting.column, id);
  });

  test("still reads links that say view for route", () => {
    const { route, analytics } = parseAddress("?view=views&range=last-month&sort=human&path=a");
    assert.deepEqual([route, analytics.range, analytics.filter], ["views", "last-month", "a"]);
    assert.equal(requestedRoute("?view=jobs"), "jobs");
  });

  test("says nothing of the other routes", () => {
    const filtered = changeAddress(usual, { route: "views", analytics: { filter: "/guides" } });
    assert.equal(changeAddress(filtered, { route: "visitors" }).analytics.filter, "/guides");
    assert.equal(changeAddress(filtered, { route: "searches" }).analytics.filter, "");
    const everywhere = changeAddress(views, { route: "jobs" });
    assert.equal(formatAddress(everywhere), "?route=jobs&project=acme");
  });

  test("that names no route leaves the choice to the page", () => {
    assert.equal(requestedRoute(""), null);
    assert.equal(requestedRoute("?route=nonsense&project=acme"), null);
  });

  test("that makes no sense leads to the usual place", () => {
    const nonsense = "?view=x&range=y&from=2026-02-30&to=2026-01-01&sort=-z";
    assert.deepEqual(parseAddress(nonsense), usual);
    assert.equal(usual.project, null);
  });
});

test("every number and date is written by one module, in the reader's own way", async () => {
  const root = join(ROOT, "www", "src");
  const names = await readdir(root, { recursive: true });
  const sources = names.filter((name) => /\.tsx?$/.test(name) && !name.endsWith("wording.ts"));
  assert.ok(sources.length > 50);
  for (const name of sources) {
    const text = await readFile(join(root, name), "utf8");
    assert.doesNotMatch(text, /\bIntl\.|\.toLocale\w*String\(/, name);
  }
  const wording = await readFile(join(root, "shell", "wording.ts"), "utf8");
  assert.doesNotMatch(wording, /Intl\.\w+\("/, "no language is decided for the reader");
});

test("durations are short", () => {
  const texts = [0, 59_999, 185_000, 7_800_000, 400_000_000].map(duration);
  assert.deepEqual(texts, ["0 s", "59 s", "3 min 05 s", "2 h 10 min", "4 days"]);
  assert.equal(duration(-5), "0 s");
});

describe("what a gateway says in its headers", () => {
  const limitOf = (policy, left) =>
    tightestLimit(new Headers({ "ratelimit-policy": policy, ratelimit: left }), NOW);

  test("is the limit that is used up first", () => {
    const policies = '"create-job";q=100;w=3600, "create-job-caller";q=10;w=3600';
    assert.deepEqual(limitOf(policies, '"create-job";r=41;t=1800, "create-job-caller";r=3'), {
      policy: "create-job-caller",
      quota: 10,
      window: 3_600_000,
      left: 3,
      at: NOW,
    });
    assert.equal(limitOf(policies, '"create-job";r=2').policy, "create-job");
  });

  test("is no limit when it names none, or half of one", () => {
    assert.equal(tightestLimit(new Headers(), NOW), null);
    assert.equal(limitOf('"a";q=1', '"a";r=1'), null);
    assert.equal(limitOf('"a";q=1;w=1', '"b";r=1'), null);
    assert.equal(limitOf("nonsense", "nonsense"), null);
  });

  test("is put in words", () => {
    const limit = { policy: "x", quota: 100, window: 3_600_000, left: 41, at: NOW };
    assert.match(limitNote(limit, "job"), /^At most 100 jobs an hour; 41 left at /);
    assert.match(limitNote({ ...limit, window: 600_000 }, "job"), /^At most 100 jobs in 10 min/);
  });

  test("tells an answer that is stale, since when and why", () => {
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
});
