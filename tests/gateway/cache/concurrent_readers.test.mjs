import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costing,
  NO_CACHE,
  openAll,
  openRange,
  readAll,
  tally,
  until,
  viewsOf,
  withoutQuota,
} from "../analytics_requests.mjs";
import { assertProblem } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";
import { EMPTY, HIT, ifNoneMatch, LIMIT, MISS, REFETCHED, useCache } from "./cached_views.mjs";

const READERS = 200;
const JOINED = "fwd=uri-miss; collapsed";

/** The built Worker with an instrumented organization object. */
const config = configWith({
  source: `
    import worker, { OrgGate as Gate, ProjectGate, Session } from ${JSON.stringify(BUILT_SCRIPT)};
    let calls = 0;
    let failing = false;
    export { ProjectGate, Session };
    export class OrgGate extends Gate {
      report(call) {
        calls += 1;
        if (failing) throw new Error("unreachable");
        return super.report(call);
      }
    }
    export default {
      fetch(request, env, context) {
        const { pathname, searchParams } = new URL(request.url);
        if (pathname !== "/v1/instrumented") return worker.fetch(request, env, context);
        if (searchParams.has("failing")) failing = searchParams.get("failing") === "yes";
        return Response.json({ calls });
      },
    };
  `,
});
const gate = useCache("cache-concurrent", {
  gateway: { config, vars: { ...LIMIT, ANALYTICS_FRESH_SECONDS: "1" } },
});

function control(query) {
  return until(async () => {
    const answer = await gate.get(`/v1/instrumented${query}`, { authorization: null });
    return answer.status === 200 && answer.json;
  });
}

/** Returns the number of calls for reports that the organization object has received. */
const objectCalls = async () => (await control("")).calls;
const setObjectFailing = (failing) => control(`?failing=${failing}`);

describe("the organization object", () => {
  async function together(count, target, { options, others = options, next, meanwhile } = {}) {
    await gate.upstream.hold({ next });
    const calls = await objectCalls();
    const first = openAll(gate, 1, target, options);
    await gate.upstream.untilHeld(1);
    const rest = openAll(gate, count - 1, target, others);
    await until(async () => (await objectCalls()) >= calls + count);
    await meanwhile?.(first[0]);
    await gate.upstream.release();
    return readAll([...first, ...rest]);
  }

  test(`sends one upstream request for ${READERS} waiting readers`, async () => {
    const target = viewsOf(closedRange());
    const result = await costing(gate, 1, () => together(READERS, target));
    assert.deepEqual(tally(result), { [MISS]: 1, [JOINED]: READERS - 1 });
    assert.equal(new Set(result.map(({ text }) => text)).size, 1);
  });

  test("sends one upstream request for concurrent requests with no-cache", async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    const run = () => together(100, target, { options: { headers: NO_CACHE } });
    const result = await costing(gate, 1, run);
    assert.deepEqual(tally(result), { [REFETCHED]: 1, "fwd=request; collapsed": 99 });
  });

  test("returns the failure of a shared request to every waiting reader", async () => {
    const next = { kind: "status", status: 500 };
    const answers = await together(20, viewsOf(closedRange()), { next });
    assert.equal(await gate.received(), 1);
    for (const answer of answers) assertProblem(answer, 500, "upstream-error");
  });

  test("sends one upstream request for exports after the request that they share returns a stale page", async () => {
    const EXPORTS = 5;
    const target = viewsOf({ ...openRange(), project: EMPTY });
    const reader = caller(gate, "alice", { projects: [EMPTY] });
    const spent = caller(gate, "spent", { projects: [EMPTY], quota: { analytics: 0 } });
    await gate.get(target, reader);
    const stale = "hit; ttl=-; detail=quota-exceeded";
    await until(async () => cacheOf(await gate.get(target, spent)) === stale);

    const [calls, received] = [await objectCalls(), await gate.received()];
    await gate.upstream.hold({ next: { kind: "status", status: 500 } });
    const shared = openAll(gate, 1, target, reader);
    await gate.upstream.untilHeld(1);
    const exported = target.replace("/views?", "/views/export?format=ndjson&");
    const exports = openAll(gate, EXPORTS, exported, reader);
    await until(async () => (await objectCalls()) >= calls + 1 + EXPORTS);
    await gate.upstream.release();
    const [first, ...rest] = await readAll([...shared, ...exports]);
    assertViews(first, "fwd=stale; fwd-status=500; ttl=-; detail=stale");
    for (const answer of rest) assert.equal(answer.status, 200, answer.text);
    assert.equal((await gate.received()) - received, 2);
  });

  test("hides a caller's quota from a reader that joins its request", async () => {
    const options = caller(gate, "rationed", { quota: { analytics: 7 } });
    const others = caller(gate, "plain");
    const answers = await together(2, viewsOf(closedRange()), { options, others });
    const [first, joined] = answers.map((answer) => answer.header("ratelimit"));
    assert.match(first, /"analytics-caller";r=6/);
    assert.doesNotMatch(joined ?? "", /analytics-caller/);
  });

  test("serves waiting readers even if the first reader disconnects", async () => {
    const target = viewsOf(closedRange());
    const answers = await together(30, target, {
      async meanwhile(leader) {
        leader.leave();
        // During each round trip, the object can notice that the reader has disconnected.
        for (let trip = 0; trip < 3; trip += 1) await callObject();
      },
    });
    assert.equal(answers[0].hasHead, false);
    assert.deepEqual(tally(answers.slice(1)), { [JOINED]: 29 });
    const { pageViews, aborted } = await pageViewCounters();
    assert.deepEqual([pageViews, aborted], [1, 0]);
  });

  const callObject = () => gate.get(viewsOf({ ...closedRange(), limit: 1 }), withoutQuota(gate));

  async function pageViewCounters() {
    const { byOperation, aborted } = await gate.upstream.counters();
    return { pageViews: byOperation["analytics.views"], aborted };
  }

  test("serves a cached page without a call to the organization object", async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    const calls = await objectCalls();
    const answers = await readAll(openAll(gate, 200, target));
    assert.deepEqual(tally(answers), { [HIT]: 200 });
    assertViews(await gate.get(target, caller(gate, "bob")), HIT);
    assert.equal((await gate.get(target, ifNoneMatch("*"))).status, 304);
    assert.equal(await objectCalls(), calls);
  });

  test("serves cached pages and returns 503 for others when the organization object fails", async (t) => {
    t.after(() => setObjectFailing("no"));
    const cached = viewsOf(closedRange());
    const uncached = viewsOf(closedRange());
    await gate.get(cached);
    await setObjectFailing("yes");
    assertViews(await gate.get(cached), HIT);
    const problem = await gate.get(uncached);
    assertProblem(problem, 503, "object-unavailable");
    assert.equal(problem.header("retry-after"), "1");
    await setObjectFailing("no");
    assertViews(await gate.get(uncached), MISS);
  });
});
