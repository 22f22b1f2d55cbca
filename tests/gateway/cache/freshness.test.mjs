/** Freshness of cached page views. The range of a page determines the page's freshness lifetime. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startGateway } from "../../harness/gateway.mjs";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costOf,
  NO_CACHE,
  openRange,
  until,
  upstreamsOwn,
  viewsOf,
} from "../analytics_requests.mjs";
import { before } from "../recorded_gateway.mjs";
import { HIT, headersOf, LIMIT, MISS, REFETCHED, useCache } from "./cached_views.mjs";

const gate = useCache("cache-freshness", { stored: true, gateway: { vars: LIMIT } });

test("returns an Age of page views that starts at 0 and grows", async () => {
  const target = viewsOf(closedRange());
  const ages = [];
  await until(async () => {
    const answer = await gate.get(target);
    assert.match(answer.header("age"), /^\d+$/);
    ages.push(Number(answer.header("age")));
    return ages.at(-1) >= 2;
  });
  assert.equal(ages[0], 0);
  assert.deepEqual(
    ages,
    [...ages].sort((a, b) => a - b),
  );
  assert.equal(await gate.received(), 1);
});

describe("a validator", () => {
  let target;
  let etag;

  before(async () => {
    target = viewsOf(closedRange());
    etag = (await gate.get(target)).header("etag");
  });

  test("returns the same ETag for the same bytes to every caller and after every fetch", async () => {
    assert.equal((await gate.get(target, caller(gate, "bob"))).header("etag"), etag);
    const again = await gate.get(target, { headers: NO_CACHE });
    assertViews(again, REFETCHED);
    assert.equal(again.header("etag"), etag);
    const [one, two] = [viewsOf({ ...closedRange(), offset: 9000 }), viewsOf(closedRange())];
    assert.notEqual((await gate.get(one)).header("etag"), (await gate.get(two)).header("etag"));
  });

  test("returns another ETag for a changed page", async () => {
    const page = await upstreamsOwn(gate, target);
    page.views[0].human += 1;
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: page } });
    const old = headersOf("If-None-Match", etag);
    const changed = await gate.get(target, { headers: [...NO_CACHE, ...old.headers] });
    assert.deepEqual(assertViews(changed, REFETCHED).views, page.views.slice(0, 50));
    assert.notEqual(changed.header("etag"), etag);
    const hit = await gate.get(target, old);
    assert.deepEqual(assertViews(hit, HIT).views, page.views.slice(0, 50));
    assert.equal(hit.header("etag"), changed.header("etag"));
  });
});

for (const value of ["no-cache", "max-age=0, no-cache"]) {
  test(`fetches the page again and charges a unit for Cache-Control: ${value}`, async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    const send = () => gate.get(target, headersOf("Cache-Control", value));
    const { result, visits, units } = await costOf(gate, send);
    assertViews(result, REFETCHED);
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.match(result.header("ratelimit"), /^"analytics";r=\d+;t=\d+$/);
    assertViews(await gate.get(target), HIT);
  });
}

describe("a restarted gateway", () => {
  const FRESH_SECONDS = 4321;

  async function restart(end) {
    await gate.gateway[end]();
    gate.gateway = await startGateway({
      ...gate.settings,
      port: gate.gateway.port,
      vars: { ...LIMIT, ANALYTICS_FRESH_SECONDS: String(FRESH_SECONDS) },
    });
  }

  for (const [what, end] of [
    ["stopped", "stop"],
    ["killed", "kill"],
  ]) {
    test(`serves fresh pages without an upstream request after it was ${what} and restarted`, async () => {
      const targets = [closedRange(), openRange()].map(viewsOf);
      const send = () => Promise.all(targets.map((target) => gate.get(target)));
      const before = await send();
      assert.deepEqual(before.map(cacheOf), [MISS, MISS]);
      await gate.upstream.reset();
      await restart(end);
      for (const [at, answer] of (await send()).entries()) {
        assertViews(answer, HIT);
        assert.equal(answer.text, before[at].text);
        for (const name of ["etag", "cache-control"]) {
          assert.equal(answer.header(name), before[at].header(name));
        }
        assert.ok(Number(answer.header("age")) >= Number(before[at].header("age")));
      }
      assert.equal(await gate.received(), 0);
    });
  }
});
