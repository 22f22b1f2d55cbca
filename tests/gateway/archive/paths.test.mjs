import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { before, PROJECT, startGate } from "../recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const startedAt = Date.now();
const daysAgo = (count) => new Date(startedAt - count * DAY_MS).toISOString().slice(0, 10);
const DAILY = `/v1/analytics/${PROJECT}/views/daily`;
const ARCHIVED = `/v1/analytics/${PROJECT}/views/archived`;
/** Maximum time for a run. In an early build, a run with a NUL in a path never ended. */
const RUN_MS = 30_000;
/** Maximum size of the database. One day of ordinary paths takes less. */
const MAX_BYTES = 200_000;

/** Returns the row of a page with `human` views by people and one view by AI. */
const row = (path, human) => ({ path, human, ai: 1, total: human + 1 });
const sum = (rows) => rows.reduce((total, { human }) => total + human, 0);
const deepPath = (segments, suffix = "") => "/s".repeat(segments) + suffix;

/** Starts a gateway that archives the rows `views`, with their sums, as yesterday's page views. */
async function archiveYesterday(name, views, oddTotals = {}) {
  const gate = await startGate(name, {
    gateway: { archive: true, vars: { ARCHIVE_PROJECTS: PROJECT } },
  });
  const stop = () => gate.stop();
  const claims = { scope: "analytics:read gateway:operate" };
  const read = (path, query = {}) =>
    gate.read(`${DAILY}${path}?${new URLSearchParams(query)}`, { claims });
  const range = { dateFrom: daysAgo(1), dateTo: daysAgo(0) };
  const list = (query) =>
    gate.read(`${ARCHIVED}?${new URLSearchParams({ ...range, ...query })}`, { claims });
  const series = async (subject) => {
    const { views } = await read("", { ...range, ...subject });
    assert.equal(views.length, 1);
    const [{ human, ai, total }] = views;
    return { human, ai, total };
  };
  const human = async (subject) => (await series(subject)).human;
  const people = sum(views);
  const sums = { human: people, ai: views.length, total: people + views.length };
  const totals = { ...sums, ...oddTotals };
  await gate.upstream.fault({
    target: "/views?",
    times: 0,
    fault: { kind: "json", status: 200, body: { totals, views, hasMore: false } },
  });
  try {
    await Promise.race([
      gate.gateway.runCron(),
      new Promise((_, reject) => {
        setTimeout(() => reject(new Error("the run does not end")), RUN_MS).unref();
      }),
    ]);
  } catch (error) {
    await gate.gateway.kill();
    await stop().catch(() => {});
    throw error;
  }
  return { gate, read, list, series, human, totals, stop };
}

describe("control characters in paths", () => {
  const VIEWS = [
    row("/\0x", 1),
    row("/%00x", 10),
    row("/a/\0b", 100),
    row("/a/\0/\0c", 1000),
    row("/tab\tx", 10_000),
    row("/a/b", 100_000),
    row("\0", 1_000_000),
    row("/b?cursor=zzz", 10_000_000),
    row("", 100_000_000),
  ];
  let archive;

  before(async () => {
    archive = await archiveYesterday("archive-control", VIEWS);
  });
  after(() => archive?.stop());

  test("finishes an archive run with NUL in paths, and still responds afterwards", async () => {
    assert.equal((await archive.gate.get("/healthz", { authorization: null })).status, 200);
    assert.equal((await archive.read("/status")).complete, 1);
  });

  test("stores control characters in archived paths percent-encoded", async () => {
    for (const [path, human] of [
      ["/tab%09x", 10_000],
      ["/tab\tx", 10_000],
      ["/a/%00b", 100],
      ["/a/\0/\0c", 1000],
      ["/a/b", 100_000],
    ]) {
      assert.equal(await archive.human({ path }), human, JSON.stringify(path));
    }
  });

  test("counts archived paths together that are equal after percent-encoding", async () => {
    for (const path of ["/\0x", "/%00x"]) assert.equal(await archive.human({ path }), 11);
  });

  test("lists each archived path once, whatever its characters", async () => {
    const paths = [];
    for (let cursor = {}; cursor; ) {
      const { views, nextCursor } = await archive.list({ limit: 1, ...cursor });
      paths.push(...views.map(({ path }) => path));
      cursor = nextCursor && { cursor: nextCursor };
    }
    const deep = ["/a/%00/%00c", "/a/%00b", "/a/b"];
    assert.deepEqual(paths, ["", "%00", "/%00x", ...deep, "/b?cursor=zzz", "/tab%09x"]);
  });

  test("counts archived prefixes exactly when paths contain control characters", async () => {
    assert.deepEqual(await archive.series({ prefix: "/" }), archive.totals);
    assert.equal(await archive.human({ prefix: "/a" }), 101_100);
    assert.equal(await archive.human({ prefix: "/a/\0" }), 1000);
  });
});

describe("odd counts", () => {
  const ODD = [1.5, -1, "n/a", true, 2 ** 53, [], {}];
  const VIEWS = ODD.flatMap((ai, at) => [
    { ...row(`/odd/${at}`, 1), ai },
    { ...row(`/odd/${at}/again`, 1), ai },
    row(`/known/${at}`, 10),
  ]);
  const unknownAi = (human, total) => ({ human, ai: null, total });
  let archive;

  before(async () => {
    archive = await archiveYesterday("archive-odd", VIEWS, { ai: "n/a" });
  });
  after(() => archive?.stop());

  test("archives an odd count as unknown, and the other counts of its row and its day", async () => {
    for (const at of ODD.keys()) {
      assert.deepEqual(await archive.series({ path: `/odd/${at}` }), unknownAi(1, 2));
    }
    assert.deepEqual(await archive.series({ prefix: "/odd" }), unknownAi(14, 28));
    assert.deepEqual(await archive.series({ prefix: "/known" }), { human: 70, ai: 7, total: 77 });
    const { human, total } = archive.totals;
    assert.deepEqual(await archive.series({}), unknownAi(human, total));
  });
});

describe("deep and long paths", () => {
  const long = `/long/${"x".repeat(3000)}`;
  const VIEWS = [
    row(deepPath(6000), 1),
    row(deepPath(17), 10),
    row(deepPath(16), 100),
    row(deepPath(6000, "/other"), 1000),
    row(`${long}/1`, 10_000),
    row(`${long}/2`, 20_000),
    row("/long", 100_000),
  ];
  let archive;

  before(async () => {
    archive = await archiveYesterday("archive-deep", VIEWS);
  });
  after(() => archive?.stop());

  test(`archives paths of 6,000 segments in less than ${MAX_BYTES} bytes`, async (context) => {
    const { bytes } = await archive.read("/status");
    context.diagnostic(`${bytes} bytes`);
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
  });

  test("counts prefixes and paths exactly, except long paths with an equal start", async () => {
    assert.deepEqual(await archive.series({ prefix: "/" }), archive.totals);
    for (const segments of [1, 8, 16]) {
      assert.equal(await archive.human({ prefix: deepPath(segments) }), 1111, `${segments}`);
    }
    assert.equal(await archive.human({ prefix: deepPath(17) }), 1011);
    assert.equal(await archive.human({ prefix: "/long" }), 130_000);
    for (const path of [`${long}/1`, long]) assert.equal(await archive.human({ path }), 30_000);
    assert.equal(await archive.human({ path: deepPath(6000) }), 1001);
    assert.equal(await archive.human({ path: deepPath(17) }), 10);
    assert.equal(await archive.human({ path: deepPath(16) }), 100);
    assert.equal(await archive.human({ path: "/long" }), 100_000);
    assert.equal(await archive.human({ path: "/nowhere" }), 0);
  });
});
