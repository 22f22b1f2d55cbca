/** Exports as streams: requests, memory, positions, failures, waits, aborts and options. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  against,
  assertInvalid,
  inTurn,
  KEY,
  quillgate,
  rejectionOf,
  skipWaits,
} from "./behaviour/fixtures.mjs";
import { decode, LISTS, pageOf, read } from "./exported_lists.mjs";

const { views } = LISTS;
const view = (at) => ({ tokens: [`{"path":"/${at}","human":${at}}`] });
const VIEWS = Array.from({ length: 10 }, (_, at) => view(at));
const plainPage = pageOf(views, VIEWS, { pick: () => "" });
const FIRST_PAGE = plainPage({ path: "/?limit=4" });

// --- pages and chunks --------------------------------------------------------------------------

test("an export sends nothing until it is read, and then one request per read", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    assert.equal(stream.nextPosition, undefined);
    const reader = stream.getReader();
    await turn();
    assert.equal(requests.length, 0);
    for (const [count, offset] of [
      [1, 4],
      [2, 8],
    ]) {
      const { value } = await reader.read();
      assert.equal(decode([value]).split("\n").length, 4 + 1);
      await turn();
      assert.equal(requests.length, count);
      assert.equal(stream.nextPosition.offset, offset);
    }
    assert.equal((await reader.read()).done, false);
    assert.equal(stream.nextPosition, null);
    assert.equal((await reader.read()).done, true);
    assert.equal(requests.length, 3);
  }));

test("the memory of an export does not grow with its rows", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const rows = Array.from({ length: 250 }, (_, at) => view(at).tokens[0]).join();
  let pages = 0;
  const fetch = async () => {
    await turn(); // As a network does. Objects released in a turn can be collected only after it.
    const text = `{"totals":{},"views":[${rows}],"hasMore":${++pages < 2_000}}`;
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  const { analytics } = new quillgate.Client({ projectId: "acme", auth: { adminKey: KEY }, fetch });
  const used = [];
  let bytes = 0;
  for await (const chunk of analytics.views().export({ format: "csv" })) {
    bytes += chunk.length;
    if (pages === 200 || pages === 1_999) {
      // Finalizers release their objects one turn later.
      for (let times = 3; times--; ) {
        await turn();
        collectGarbage();
      }
      used.push(process.memoryUsage().heapUsed);
    }
  }
  assert.ok(bytes > 2_000 * 250 * 5, "half a million rows are at least this long");
  const [early, late] = used;
  assert.ok(late < early * 1.2, `${early} bytes after 50,000 rows, ${late} after 500,000`);
});

// --- failures, waits and aborts ----------------------------------------------------------------

const spent = (seconds) => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  json: { type: "/problems/rate-limited" },
});

test("an export fails when the budget is spent, and resumes from its position", () =>
  against(inTurn(FIRST_PAGE, spent(1800)), async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4, dateTo: "2024-02-01" }).export({ format: "csv" });
    const error = await rejectionOf(read(stream), "RateLimitError");
    assert.equal(error.retryAfter, 1800);
    assert.deepEqual(stream.nextPosition, { dateTo: "2024-02-01", limit: 4, offset: 4 });
    assert.equal(requests.length, 2);
  }));

test("an export waits for the budget up to `wait` in total", (context) => {
  const waits = skipWaits(context);
  let count = 0;
  const respond = (received) => {
    count++;
    return [2, 3, 4].includes(count) ? spent(10) : plainPage(received);
  };
  return against(
    respond,
    async ({ analytics }) => {
      const options = { format: "ndjson", wait: 30_000 };
      const stream = analytics.views({ limit: 4 }).export(options);
      assert.equal((await read(stream)).split("\n").length, VIEWS.length + 1);
      assert.deepEqual(waits, [10_000, 10_000, 10_000]);
      count = 0;
      const second = analytics.views({ limit: 4 }).export({ ...options, wait: 29_999 });
      await rejectionOf(read(second), "RateLimitError");
      assert.equal(waits.length, 5, "a wait beyond the limit does not start");
    },
    { maxRetries: 0 },
  );
});

test("a malformed page fails the export before any of its rows", () => {
  const second = { json: { totals: {}, views: [{ path: "/4" }, { path: 5 }], hasMore: false } };
  return against(inTurn(FIRST_PAGE, second), async ({ analytics }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "ndjson" });
    const reader = stream.getReader();
    await reader.read();
    const error = await rejectionOf(reader.read(), "DecodeError");
    assert.equal(error.path, "views[1].path");
    assert.equal(stream.nextPosition.offset, 4);
  });
});

test("cancelling an export closes its connection and sends no other request", async () => {
  const respond = inTurn(FIRST_PAGE, { stall: "head" });
  await against(respond, async ({ analytics }, { requests, arrived }) => {
    const reader = analytics.views({ limit: 4 }).export({ format: "csv" }).getReader();
    await reader.read();
    const pending = reader.read();
    await arrived(2);
    await reader.cancel();
    assert.equal((await pending).done, true);
    assert.equal(await requests[1].ended, false);
    assert.equal(requests.length, 2);
  });
  await against(plainPage, async ({ analytics }, { requests }) => {
    const stream = analytics.views({ limit: 4 }).export({ format: "csv" });
    await stream.cancel();
    const another = analytics.views({ limit: 4 }).export({ format: "csv" });
    const reader = another.getReader();
    const pending = reader.read();
    await reader.cancel();
    assert.equal((await pending).done, true);
    await analytics.views();
    assert.equal(requests.length, 1);
  });
});

for (const [owner, options] of [
  ["an export", (signal) => [{}, { signal }]],
  ["the list of an export", (signal) => [{ signal }, {}]],
]) {
  const start = ({ analytics }, signal, more) => {
    const [listOptions, exportOptions] = options(signal);
    const list = analytics.views({ limit: 4 }, listOptions);
    return list.export({ format: "csv", ...exportOptions, ...more });
  };
  test(`the signal of ${owner} stops it with its reason: in a request, between reads and in a wait`, async (context) => {
    const stalling = inTurn(FIRST_PAGE, { stall: "head" });
    await against(stalling, async (client, { requests, arrived }) => {
      const abort = new AbortController();
      const reader = start(client, abort.signal).getReader();
      await reader.read();
      const failed = rejectionOf(reader.read());
      await arrived(2);
      abort.abort("enough");
      assert.equal(await failed, "enough");
      assert.equal(await requests[1].ended, false);
    });
    await against(FIRST_PAGE, async (client, { requests }) => {
      const abort = new AbortController();
      const reader = start(client, abort.signal).getReader();
      await reader.read();
      abort.abort("enough");
      assert.equal(await rejectionOf(reader.read()), "enough");
      assert.equal(requests.length, 1);
    });
    await against(FIRST_PAGE, async (client, { requests }) => {
      const stream = start(client, AbortSignal.abort("enough"));
      assert.equal(await rejectionOf(read(stream)), "enough");
      assert.equal(requests.length, 0);
    });
    const { setTimeout } = globalThis;
    await against(spent(3600), async (client) => {
      const abort = new AbortController();
      context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
        if (ms === 3_600_000) queueMicrotask(() => abort.abort("enough"));
        return setTimeout(run, ms, ...rest);
      });
      const stream = start(client, abort.signal, { wait: 86_400_000 });
      assert.equal(await rejectionOf(read(stream)), "enough");
    });
  });
}

test("an export with invalid options is rejected and sends nothing", () =>
  against(plainPage, async ({ analytics }, { requests }) => {
    const position = { dateFrom: "2024-01-01", dateTo: "2024-02-01", limit: 4, offset: 4 };
    for (const [params, options, field, rule] of [
      [{}, undefined, "format", "one-of"],
      [{}, { format: "xml" }, "format", "one-of"],
      [{}, { format: "csv", wait: -1 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 1.5 }, "wait", "milliseconds"],
      [{}, { format: "csv", wait: 86_400_001 }, "wait", "milliseconds"],
      [{}, { format: "csv", delimiter: ";" }, "delimiter", "unknown"],
      [{}, { format: "csv", resumeFrom: null }, "resumeFrom", "required"],
      [{}, { format: "csv", resumeFrom: { ...position, limit: 0 } }, "limit", "page-size"],
      [{ dateFrom: "2024-01-02" }, { format: "csv", resumeFrom: position }, "resumeFrom", "one-of"],
      [{ dateFrom: "x" }, { format: "csv" }, "dateFrom", "date-format"],
    ]) {
      const stream = analytics.views(params).export(options);
      await assertInvalid(read(stream), field, rule);
    }
    assert.equal(requests.length, 0);
    const same = { dateFrom: "2024-01-01", limit: 2 };
    const stream = analytics.views(same).export({ format: "ndjson", resumeFrom: position });
    assert.equal((await read(stream)).split("\n").length, VIEWS.length - 4 + 1);
  }));
