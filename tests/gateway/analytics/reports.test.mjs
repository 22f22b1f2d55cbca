/**
 * Every analytics report through the gateway: scopes, budget, caching and storage. The simulator's
 * counters show how many requests went upstream.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "../../../pkg/dist/node.js";
import { scanForCanary } from "../../harness/canary.mjs";
import {
  assertViews,
  caller,
  dayFromToday,
  NO_CACHE,
  PAGE_ROWS,
  upstreamsOwn,
} from "../analytics_requests.mjs";
import {
  ALLOWED_ORIGIN,
  assertInvalid,
  assertProblem,
  PROJECT,
  startGate,
} from "../recorded_gateway.mjs";

const READ = "analytics:read";
const CONVERSATIONS = "analytics:conversations";
const BOTH = { scope: `${READ} ${CONVERSATIONS}` };

/**
 * Per report: the path suffix, the property with the rows, the pagination parameter, the maximum
 * `limit`, and the scope.
 */
const REPORTS = {
  views: { path: "views", rows: "views", by: "offset", most: 250, scope: READ },
  visitors: { path: "visitors", rows: "visitors", by: "offset", most: 250, scope: READ },
  feedback: { path: "feedback", rows: "feedback", by: "cursor", most: 100, scope: READ },
  feedbackByPage: { path: "feedback/by-page", rows: "feedback", most: 100, scope: READ },
  searches: { path: "searches", rows: "searches", by: "cursor", most: 100, scope: READ },
  conversations: {
    path: "assistant",
    rows: "conversations",
    by: "cursor",
    most: 1000,
    scope: CONVERSATIONS,
  },
  conversation: { path: "assistant/threads", scope: CONVERSATIONS },
  callerStats: { path: "assistant/caller-stats", scope: READ },
};
const NAMES = Object.keys(REPORTS);
const LISTS = NAMES.filter((name) => REPORTS[name].by);
const PERSONAL = ["conversations", "conversation"];

const MISS = "fwd=uri-miss; stored";
const HIT = "hit; ttl=+";
const ASKED_FOR = "fwd=request; stored";

const DAY_MS = 86_400_000;
const day = (number) => new Date(Date.UTC(2015, 1, 1) + number * DAY_MS).toISOString().slice(0, 10);

let ranges = 0;

/** A past range of 60 days that no test has requested yet. */
function newRange() {
  ranges += 1;
  return { dateFrom: day(ranges), dateTo: day(ranges + 60) };
}

/** A range up to tomorrow that no test has requested yet. */
function openRange() {
  ranges += 1;
  return { dateFrom: dayFromToday(-ranges), dateTo: dayFromToday(2) };
}

/** Turn ids. Each leads to one conversation and is used once. */
let turns;

const targetOf = (name, query = {}) =>
  `/v1/analytics/${PROJECT}/${REPORTS[name].path}?${new URLSearchParams(query)}`;

const threadTarget = (id) => `/v1/analytics/${PROJECT}/assistant/threads/${id}`;

/** The target of a report that no test has requested yet. */
function newTarget(name, range = newRange) {
  return name === "conversation" ? threadTarget(turns.pop()) : targetOf(name, range());
}

/** A simulator with a high rate limit and enough rows for several pages of each list. */
const UPSTREAM = { pages: 610, analyticsLimit: 1e6 };

let gate;
let state;
let reader;

before(async () => {
  state = mkdtempSync(join(tmpdir(), "quillgate-reports-"));
  const vars = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
  gate = await startGate("reports", { upstream: UPSTREAM, gateway: { state, vars } });
  reader = caller(gate, "rita", BOTH);
  const range = { dateFrom: "2020-01-01", dateTo: "2020-03-01" };
  const { conversations } = await gate.upstream.report({ report: "assistant", ...range });
  turns = conversations.map(({ id }) => id);
});
after(async () => {
  await gate?.stop();
  rmSync(state, { recursive: true, force: true, maxRetries: 5 });
});
beforeEach(() => gate.upstream.reset());

/** Runs `run`, asserts that it caused `requests` requests upstream, and returns its result. */
async function costing(requests, run) {
  const before = await gate.received();
  const result = await run();
  assert.equal((await gate.received()) - before, requests, "requests upstream");
  return result;
}

const ifNoneMatch = (etag) => ({ headers: [["If-None-Match", etag]] });

describe("the contents of a report", () => {
  for (const name of LISTS) {
    test(`returns all rows of ${name}, page by page`, async () => {
      const { path, rows, by } = REPORTS[name];
      const range = newRange();
      const whole = await gate.upstream.report({ report: path, ...range });
      const query = { ...range, limit: 100 };
      const read = [];
      let pages = 0;
      for (let more = true; more; pages += 1) {
        const target = targetOf(name, query);
        const answer = await gate.get(target, reader);
        assert.equal(answer.status, 200, answer.text);
        const page = answer.json;
        assert.deepEqual(page, await upstreamsOwn(gate, target));
        read.push(...page[rows]);
        if (by === "offset") query.offset = (query.offset ?? 0) + 100;
        else query.cursor = page.nextCursor;
        more = by === "offset" ? page.hasMore : page.nextCursor !== null;
      }
      assert.ok(pages > 2, `${pages} pages`);
      assert.deepEqual(read, whole[rows]);
    });
  }

  test("returns the first 100 rows of feedbackByPage with hasMore", async () => {
    const range = { dateFrom: day(0), dateTo: day(400) };
    const { feedback } = await gate.upstream.report({ report: "feedback/by-page", ...range });
    assert.ok(feedback.length > 100, `${feedback.length} rows`);
    for (const [limit, count] of [
      [100, 100],
      [undefined, 10],
    ]) {
      const answer = await gate.get(
        targetOf("feedbackByPage", limit ? { ...range, limit } : range),
      );
      assert.deepEqual(answer.json, { feedback: feedback.slice(0, count), hasMore: true });
    }
  });

  test("returns every message of a conversation", async () => {
    const target = newTarget("conversation");
    const answer = await gate.get(target, reader);
    const own = await upstreamsOwn(gate, target);
    assert.deepEqual(answer.json, own);
    assert.ok(own.messages.length >= 2);
  });

  test("counts the conversations of the range in callerStats", async () => {
    const range = newRange();
    const { json } = await gate.get(targetOf("callerStats", range));
    assert.deepEqual(json, await upstreamsOwn(gate, targetOf("callerStats", range)));
    const { conversations } = await gate.upstream.report({ report: "assistant", ...range });
    assert.deepEqual(json.total, conversations.length);
  });

  for (const name of ["feedback", "feedbackByPage"]) {
    test(`filters ${name} by source and status`, async () => {
      const range = newRange();
      const filter = { source: "contextual", status: "pending,resolved" };
      const target = targetOf(name, { ...range, limit: 100, ...filter });
      const filtered = (await gate.get(target)).json;
      assert.deepEqual(filtered, await upstreamsOwn(gate, target));
      const all = (await gate.get(targetOf(name, { ...range, limit: 100 }))).json;
      assert.notDeepEqual(filtered.feedback, all.feedback);
      assert.ok(filtered.feedback.length > 0);
    });
  }

  test("returns the upstream's 404 for an unknown conversation", async () => {
    const missing = await gate.get(threadTarget("01ARZ3NDEKTSV4RRFFQ69G5FAV"), reader);
    assertProblem(missing, 404, "upstream-error");
  });
});

describe("the scope of a report", () => {
  for (const name of NAMES) {
    const { scope } = REPORTS[name];
    const other = scope === READ ? CONVERSATIONS : READ;

    test(`requires ${scope} for ${name}, even when the report is cached`, async () => {
      const target = newTarget(name);
      const outsider = caller(gate, "mallory", { scope: `jobs:create jobs:read ${other}` });
      const assertForbidden = async () => {
        const answer = await costing(0, () => gate.get(target, outsider));
        const { detail } = assertProblem(answer, 403, "insufficient-scope");
        assert.match(detail, new RegExp(`scope ${scope}$`));
        assert.equal(
          answer.header("www-authenticate"),
          `Bearer realm="quillgate", error="insufficient_scope", scope="${scope}"`,
        );
      };
      await assertForbidden();
      await costing(1, async () => {
        assertViews(await gate.get(target, caller(gate, "rob", { scope })), MISS);
      });
      await assertForbidden();
    });
  }
});

describe("a cached report", () => {
  for (const name of NAMES) {
    test(`serves an equal request for ${name} from the cache`, async () => {
      const target = newTarget(name);
      const first = await costing(1, () => gate.get(target, reader));
      assertViews(first, MISS);
      assert.match(first.header("ratelimit"), /^"analytics";r=\d+;t=\d+$/);
      const other = caller(gate, "sam", BOTH);
      await costing(0, async () => {
        for (const options of [reader, other]) {
          const answer = await gate.get(target, options);
          assertViews(answer, HIT);
          assert.equal(answer.text, first.text);
          assert.equal(answer.header("etag"), first.header("etag"));
        }
      });
    });

    test(`responds 304 to the entity tag of cached ${name}`, async () => {
      const target = newTarget(name);
      const etag = (await gate.get(target, reader)).header("etag");
      await costing(0, async () => {
        const known = await gate.get(target, { ...reader, ...ifNoneMatch(etag) });
        assert.deepEqual([known.status, known.text, known.header("etag")], [304, "", etag]);
        assertViews(await gate.get(target, { ...reader, ...ifNoneMatch('"other"') }), HIT);
      });
    });

    test(`fetches cached ${name} again for Cache-Control: no-cache`, async () => {
      const target = newTarget(name);
      await gate.get(target, reader);
      const renew = () => gate.get(target, { ...reader, headers: NO_CACHE });
      assertViews(await costing(1, renew), ASKED_FOR);
    });
  }

  test("caches each page of a list with cursors separately", async () => {
    for (const name of ["feedback", "searches", "conversations"]) {
      const query = { ...newRange(), limit: 10 };
      const first = await costing(1, () => gate.get(targetOf(name, query), reader));
      const next = targetOf(name, { ...query, cursor: first.json.nextCursor });
      const second = await costing(1, () => gate.get(next, reader));
      assert.notEqual(second.header("etag"), first.header("etag"));
      await costing(0, async () => {
        assert.equal((await gate.get(next, reader)).text, second.text);
        assert.equal((await gate.get(targetOf(name, query), reader)).text, first.text);
      });
      await costing(1, () => gate.get(targetOf(name, { ...query, limit: 11 }), reader));
    }
  });
});

describe("a list with offsets", () => {
  for (const name of ["views", "visitors"]) {
    /** The limit and offset of each request that the simulator has received. */
    async function requestedPages() {
      const requests = await gate.upstream.requests();
      return requests.map(({ target }) => {
        const query = new URL(target, gate.upstream.url).searchParams;
        return [query.get("limit"), query.get("offset")].map(Number);
      });
    }

    test(`slices ${name} from whole upstream pages of ${PAGE_ROWS} rows`, async () => {
      const range = newRange();
      const { rows } = REPORTS[name];
      const { [rows]: all, totals } = await gate.upstream.report({ report: name, ...range });
      for (let offset = 0; offset < PAGE_ROWS; offset += 25) {
        const { json } = await gate.get(targetOf(name, { ...range, limit: 25, offset }));
        const expected = { totals, [rows]: all.slice(offset, offset + 25), hasMore: true };
        assert.deepEqual(json, expected);
      }
      assert.deepEqual(await requestedPages(), [[PAGE_ROWS, 0]]);
      const over = await gate.get(targetOf(name, { ...range, limit: 30, offset: 490 }));
      assert.deepEqual(over.json[rows], all.slice(490, 520));
      const expected = [0, 250, 500].map((offset) => [PAGE_ROWS, offset]);
      assert.deepEqual(await requestedPages(), expected);
      const last = await gate.get(targetOf(name, { ...range, limit: 250, offset: 600 }));
      assert.deepEqual([last.json[rows], last.json.hasMore], [all.slice(600), false]);
    });

    test(`returns the same ${name} for a page number as for its offset`, async () => {
      const range = newRange();
      for (const [paged, query] of [
        [
          { page: 3, limit: 50 },
          { offset: 100, limit: 50 },
        ],
        [{ page: 2 }, { offset: 50 }],
        [{ page: 1, limit: 250 }, { limit: 250 }],
      ]) {
        const byOffset = await gate.get(targetOf(name, { ...range, ...query }));
        const byPage = await costing(0, () => gate.get(targetOf(name, { ...range, ...paged })));
        assertViews(byPage, HIT);
        assert.equal(byPage.text, byOffset.text);
      }
    });
  }
});

describe("invalid input, which gateway and package reject with the same errors", () => {
  const LONG = "https://gate.example/x";
  const INVALID = [
    ...NAMES.filter((name) => REPORTS[name].most).flatMap((name) => [
      [name, { limit: 0 }, "limit", "page-size"],
      [name, { limit: REPORTS[name].most + 1 }, "limit", "page-size"],
    ]),
    ...NAMES.filter((name) => name !== "conversation").flatMap((name) => [
      [name, { from: "2024-01-01" }, "from", "unknown"],
      [name, { dateFrom: "2024-02-30" }, "dateFrom", "calendar-date"],
      [name, { dateTo: "tomorrow" }, "dateTo", "date-format"],
      [name, { dateFrom: "2024-01-02", dateTo: "2024-01-02" }, "dateFrom", "before-date-to"],
    ]),
    ...["views", "visitors"].flatMap((name) => [
      [name, { cursor: "c" }, "cursor", "unknown"],
      [name, { source: "agent" }, "source", "unknown"],
      [name, { page: 0 }, "page", "page"],
      [name, { page: 1, offset: 0 }, "page", "not-with-offset"],
      [name, { page: 2 ** 53 - 1, limit: 250 }, "offset", "offset"],
    ]),
    ...["feedback", "searches", "conversations"].flatMap((name) => [
      [name, { offset: 10 }, "offset", "unknown"],
      [name, { page: 2 }, "page", "unknown"],
    ]),
    ...["feedback", "searches"].map((name) => [name, { cursor: "" }, "cursor", "not-empty"]),
    ["feedbackByPage", { cursor: "c" }, "cursor", "unknown"],
    ["feedbackByPage", { offset: 10 }, "offset", "unknown"],
    ...["feedback", "feedbackByPage"].flatMap((name) => [
      [name, { source: "email" }, "source", "one-of"],
      [name, { source: "Agent" }, "source", "one-of"],
      [name, { source: "agent,contextual" }, "source", "one-of"],
      [name, { source: LONG.repeat(3) }, "source", "one-of"],
      [name, { status: "" }, "status", "not-empty"],
    ]),
    ["searches", { source: "agent" }, "source", "unknown"],
    ["conversations", { cursor: "not-a-ulid" }, "cursor", "ulid"],
    ["conversations", { cursor: "81ARZ3NDEKTSV4RRFFQ69G5FAV" }, "cursor", "ulid"],
    ["callerStats", { limit: 10 }, "limit", "unknown"],
  ];
  let client;

  before(() => {
    const options = { baseUrl: gate.gateway.url, projectId: PROJECT, token: gate.token(BOTH) };
    client = new Client({ ...options, maxRetries: 0 });
  });

  /** Asserts that the gateway rejects a target with the same error as the package rejects a call. */
  async function assertRejected(target, call, field, rule) {
    const answer = await costing(0, () => gate.get(target, reader));
    assertInvalid(answer, field, rule);
    const error = await call().then(
      () => assert.fail("the package accepts it"),
      (reason) => reason,
    );
    assert.equal(error.name, "ValidationError");
    const [first] = answer.json.errors;
    assert.deepEqual(first, { field: error.field, rule: error.rule, detail: error.message });
  }

  for (const [name, params, field, rule] of INVALID) {
    test(`rejects ${name} with ${JSON.stringify(params)}: ${field} ${rule}`, () =>
      assertRejected(targetOf(name, params), () => client.analytics[name](params), field, rule));
  }

  for (const id of [
    "x",
    "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "01ARZ3NDE é",
  ]) {
    test(`rejects the conversation id ${id}: threadId ulid`, () => {
      const call = () => client.analytics.conversation(id);
      return assertRejected(threadTarget(encodeURIComponent(id)), call, "threadId", "ulid");
    });
  }

  test("rejects any query parameter for a conversation", async () => {
    for (const name of ["dateFrom", "limit", "threadId"]) {
      const target = `${threadTarget(turns[0])}?${name}=1`;
      assertInvalid(await costing(0, () => gate.get(target, reader)), name, "unknown");
    }
  });

  test("rejects a duplicate query parameter of a report", async () => {
    for (const name of NAMES.filter((name) => name !== "conversation")) {
      const twice = "dateFrom=2024-01-01&dateFrom=2024-01-02";
      const answer = await costing(0, () => gate.get(`${targetOf(name)}${twice}`, reader));
      assertInvalid(answer, "dateFrom", "once");
    }
  });
});

describe("an upstream response with another schema", () => {
  /** The gateway checks the top-level properties. Clients check the rows. */
  const MALFORMED = {
    views: [
      {},
      { totals: {}, views: {}, hasMore: false },
      { totals: 1, views: [], hasMore: false },
    ],
    visitors: [
      { totals: {}, visitors: [] },
      { totals: {}, views: [], hasMore: false },
    ],
    feedback: [
      { feedback: [], nextCursor: null },
      { feedback: [], nextCursor: 5, hasMore: true },
      { feedback: null, nextCursor: null, hasMore: false },
    ],
    feedbackByPage: [{ feedback: [] }, { feedback: {}, hasMore: false }, []],
    searches: [
      { nextCursor: null },
      { searches: [], nextCursor: 1 },
      { searches: [], totalSearches: -1 },
    ],
    conversations: [
      { conversations: [], nextCursor: null },
      { conversations: [], nextCursor: {}, hasMore: true },
      { conversations: "none", nextCursor: null, hasMore: false },
    ],
    conversation: [{}, { messages: {} }, { threadId: 7, messages: [] }],
    callerStats: [[], { web: -1 }, { total: "1" }],
  };

  for (const name of NAMES) {
    test(`responds 502 to malformed ${name} and does not cache it`, async () => {
      for (const body of MALFORMED[name]) {
        const target = newTarget(name);
        const operation = `analytics.${name}`;
        await gate.upstream.fault({ operation, fault: { kind: "json", status: 200, body } });
        const answer = await costing(1, () => gate.get(target, reader));
        assertProblem(answer, 502, "upstream-malformed");
        assertViews(await costing(1, () => gate.get(target, reader)), MISS);
      }
    });
  }
});

describe("the methods of a report", () => {
  /** Fields that describe the body, or that differ per request. */
  const IGNORED = ["content-length", "transfer-encoding"];
  IGNORED.push("date", "x-request-id", "server-timing", "age", "cache-status");
  const headOf = ({ status, headers }) => [
    status,
    headers.filter(([name]) => !IGNORED.includes(name)),
  ];

  for (const name of NAMES) {
    test(`responds to HEAD of ${name} like to GET, without the body`, async () => {
      const target = newTarget(name);
      await gate.get(target, reader);
      await costing(0, async () => {
        const read = await gate.get(target, reader);
        const head = await gate.send({ method: "HEAD", target, ...reader });
        assert.deepEqual(headOf(head), headOf(read));
        assert.deepEqual([head.status, head.body.length], [200, 0]);
      });
      const uncached = newTarget(name);
      const send = () => gate.send({ method: "HEAD", target: uncached, ...reader });
      const head = await costing(1, send);
      assert.deepEqual([head.status, head.body.length], [200, 0]);
    });

    test(`allows GET and HEAD of ${name} in preflight responses without a token`, async () => {
      const target = newTarget(name);
      const headers = [
        ["Origin", ALLOWED_ORIGIN],
        ["Access-Control-Request-Method", "GET"],
      ];
      await costing(0, async () => {
        const options = { target, headers, authorization: null };
        const preflight = await gate.send({ method: "OPTIONS", ...options });
        assert.deepEqual([preflight.status, preflight.text], [204, ""]);
        assert.equal(preflight.header("access-control-allow-methods"), "GET, HEAD");
        assert.equal(preflight.header("access-control-allow-origin"), ALLOWED_ORIGIN);
        const posted = await gate.post(target, {}, reader);
        assertProblem(posted, 405, "method-not-allowed");
        assert.equal(posted.header("allow"), "GET, HEAD, OPTIONS");
      });
    });
  }
});

describe("the shared budget of all reports", () => {
  const LIMIT = 100;
  let own;
  let analyst;

  before(async () => {
    // The default limit. Ranges that include today are fresh for one second.
    const vars = { ANALYTICS_FRESH_SECONDS: "1" };
    own = await startGate("reports-budget", { upstream: UPSTREAM, gateway: { vars } });
    analyst = caller(own, "rita", BOTH);
  });
  after(() => own?.stop());

  test("charges failed requests for reports, and serves stale reports instead", async () => {
    const cached = {};
    for (const name of NAMES) {
      const target = newTarget(name, openRange);
      cached[name] = { target, answer: await own.get(target, analyst) };
      assertViews(cached[name].answer, MISS);
    }
    await pause(1100);
    for (const name of NAMES) {
      const { target, answer } = cached[name];
      const fault = { kind: "status", status: 500 };
      await own.upstream.fault({ operation: `analytics.${name}`, fault });
      const stale = await own.get(target, analyst);
      assertViews(stale, "fwd=stale; fwd-status=500; ttl=-; detail=stale");
      assert.equal(stale.text, answer.text);
      assert.equal(stale.header("etag"), answer.header("etag"));
    }
    assert.equal(await own.received(), 2 * NAMES.length);
  });

  test(`limits all reports together to ${LIMIT} requests`, async () => {
    for (let used = await own.received(); used < LIMIT; used += 1) {
      const answer = await own.get(newTarget(NAMES[used % NAMES.length]), analyst);
      assertViews(answer, MISS);
      assert.equal(answer.header("ratelimit-policy"), `"analytics";q=${LIMIT};w=3600`);
      const [, left] = /^"analytics";r=(\d+);t=\d+$/.exec(answer.header("ratelimit"));
      assert.equal(Number(left), LIMIT - 1 - used);
    }
    for (const name of NAMES) {
      const answer = await own.get(newTarget(name), analyst);
      const problem = assertProblem(answer, 429, "quota-exceeded");
      assert.deepEqual(problem["violated-policies"], ["analytics"]);
      assert.equal(answer.header("ratelimit"), `"analytics";r=0;t=${answer.header("retry-after")}`);
    }
    assert.equal(await own.received(), LIMIT);
  });

  test("keeps secrets out of responses and the log when the budget is used up", () =>
    own.assertDiscreet());
});

describe("assistant conversations", () => {
  // ASCII without characters that JSON escapes, so that storage would contain it verbatim.
  const COMMENT = "Exactly what I needed, thanks!";
  const QUESTION = "How do I rotate an API key?";
  const RESPONSE = "I could not find this in the documentation.";

  /** The stored files that contain a string in any common encoding. */
  async function filesContaining(text) {
    const { files, hits } = await scanForCanary(text, [state]);
    assert.ok(files > 0, "the storage folder has files");
    return hits;
  }

  /** Reads the reports that contain the texts. Returns their targets and the conversation's ids. */
  async function readAll() {
    const range = newRange();
    const targets = { feedback: targetOf("feedback", { ...range, limit: 100 }) };
    const feedback = await gate.get(targets.feedback, reader);
    assert.ok(feedback.text.includes(COMMENT));
    targets.conversations = targetOf("conversations", { ...range, limit: 1000 });
    const { json, text } = await gate.get(targets.conversations, reader);
    for (const words of [QUESTION, RESPONSE]) assert.ok(text.includes(words));
    const { id } = json.conversations.find(({ query }) => query === QUESTION);
    targets.conversation = threadTarget(id);
    const thread = await gate.get(targets.conversation, reader);
    assert.ok(thread.text.includes(QUESTION));
    return { targets, ids: [id, thread.json.messages[0].id] };
  }

  test("caches conversations in memory only, and keeps them out of the log", async () => {
    const { targets, ids } = await readAll();
    const assertNotStored = async () => {
      assert.notDeepEqual(await filesContaining(COMMENT), [], "storage contains feedback");
      for (const text of [QUESTION, RESPONSE, ...ids]) {
        assert.deepEqual(await filesContaining(text), []);
      }
    };
    await assertNotStored();
    await costing(0, async () => {
      for (const target of Object.values(targets)) {
        assertViews(await gate.get(target, reader), HIT);
      }
    });

    await gate.restart();
    await assertNotStored();
    const again = (name) => gate.get(targets[name], reader);
    assertViews(await costing(0, () => again("feedback")), HIT);
    for (const name of PERSONAL) assertViews(await costing(1, () => again(name)), MISS);
    await assertNotStored();

    const last = await again("conversations");
    const line = await gate.logged(last.header("x-request-id"));
    assert.equal(line.status, 200, "the log has the request");
    for (const text of [QUESTION, RESPONSE]) assert.ok(!gate.gateway.log().includes(text), text);
  });
});

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
