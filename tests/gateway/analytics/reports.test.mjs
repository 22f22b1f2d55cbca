/** Analytics reports. Each report requires its scope, and all reports share one hourly budget. */

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { scanForCanary } from "../../harness/canary.mjs";
import { assertViews, caller, upstreamsOwn } from "../analytics_requests.mjs";
import { assertProblem, before, PROJECT, useGate } from "../recorded_gateway.mjs";

const READ = "analytics:read";
const CONVERSATIONS = "analytics:conversations";
const BOTH = { scope: `${READ} ${CONVERSATIONS}` };

/** The reports by name. */
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

const DAY_MS = 86_400_000;
const day = (number) => new Date(Date.UTC(2015, 1, 1) + number * DAY_MS).toISOString().slice(0, 10);

let ranges = 0;

/** Returns a past range of 60 days that no test has requested yet. */
function newRange() {
  ranges += 1;
  return { dateFrom: day(ranges), dateTo: day(ranges + 60) };
}

/** Ids of conversations at the simulator. {@link newTarget} removes each id that it uses. */
let turns;

const targetOf = (name, query = {}) =>
  `/v1/analytics/${PROJECT}/${REPORTS[name].path}?${new URLSearchParams(query)}`;

const threadTarget = (id) => `/v1/analytics/${PROJECT}/assistant/threads/${id}`;

/** Returns a target of the report `name` that no test has requested yet. */
function newTarget(name, range = newRange) {
  return name === "conversation" ? threadTarget(turns.pop()) : targetOf(name, range());
}

/** Options of the simulator. They provide several pages of each list, and a high rate limit. */
const UPSTREAM = { pages: 610, analyticsLimit: 1e6 };

const gate = useGate("reports", {
  stored: true,
  upstream: UPSTREAM,
  gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
});
const reader = caller(gate, "rita", BOTH);

before(async () => {
  const range = { dateFrom: "2020-01-01", dateTo: "2020-03-01" };
  const { conversations } = await gate.upstream.report({ report: "assistant", ...range });
  turns = [...new Set(conversations.map(({ id }) => id))];
});
beforeEach(() => gate.upstream.reset());

/** Returns the result of `run`. Asserts that `run` causes exactly `requests` upstream requests. */
async function costing(requests, run) {
  const before = await gate.received();
  const result = await run();
  assert.equal((await gate.received()) - before, requests, "requests upstream");
  return result;
}

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
});

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

describe("an upstream response with another schema", () => {
  /** Upstream bodies with malformed top-level properties. */
  const MALFORMED = {
    views: [
      {},
      { totals: {}, views: {}, hasMore: false },
      { totals: 1, views: [], hasMore: false },
    ],
    visitors: [
      { totals: [], visitors: [] },
      { totals: {}, views: [], hasMore: false },
    ],
    feedback: [
      { feedback: [], nextCursor: null, hasMore: "no" },
      { feedback: [], nextCursor: 5, hasMore: true },
      { feedback: null, nextCursor: null, hasMore: false },
    ],
    feedbackByPage: [{ hasMore: false }, { feedback: {}, hasMore: false }, []],
    searches: [
      { nextCursor: null },
      { searches: [], nextCursor: 1 },
      { searches: [], totalSearches: -1 },
    ],
    conversations: [
      { conversations: [], nextCursor: null, hasMore: 1 },
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

describe("the shared budget of all reports", () => {
  const LIMIT = 100;
  // `ANALYTICS_LIMIT_PER_HOUR` is unset, so the default limit of 100 applies. Cached ranges that
  // include today are fresh for one second.
  const own = useGate("reports-budget", {
    upstream: UPSTREAM,
    gateway: { vars: { ANALYTICS_FRESH_SECONDS: "1" } },
  });
  const analyst = caller(own, "rita", BOTH);

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
});

describe("assistant conversations", () => {
  // Strings in the simulator's rows. JSON escapes none of their characters, so stored JSON would
  // contain them verbatim.
  const COMMENT = "Exactly what I needed, thanks!";
  const QUESTION = "How do I rotate an API key?";
  const RESPONSE = "I could not find this in the documentation.";

  /** Returns the stored files that contain `text` in any common encoding. */
  async function filesContaining(text) {
    const { files, hits } = await scanForCanary(text, [gate.state]);
    assert.ok(files > 0, "the storage folder has files");
    return hits;
  }

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
