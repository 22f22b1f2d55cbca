import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { queryArchive, startGateway } from "../../harness/gateway.mjs";
import { assertProblem, PROJECT } from "../recorded_gateway.mjs";
import {
  allDays,
  byPath,
  counts,
  DAY_MS,
  DAYS,
  days,
  daysAgo,
  gate,
  LIMIT,
  MIN_WINDOW_MS,
  PAGES,
  query,
  RECHECK_DAYS,
  read,
  runUntilComplete,
  SHARE,
  send,
  truthOf,
  truths,
} from "./archived_days.mjs";

const dayNumber = (date) => Date.parse(date) / DAY_MS;

/** Returns the requests that the archive needs for each day: one for visitors, one per 250 rows. */
async function countRequests(dates) {
  const found = await Promise.all(dates.map(truthOf));
  return found.map(({ views }) => 1 + Math.max(1, Math.ceil(views.length / 250)));
}

const add = (numbers) => numbers.reduce((all, number) => all + number, 0);

/** Returns the days that the archive fetches again if their last fetch was yesterday. */
const unsettled = () => Array.from({ length: RECHECK_DAYS + 1 }, (_, at) => daysAgo(at + 1));

/** Asserts that an estimated number of requests is plausible. */
function assertEstimated(requests, days, each) {
  const [min, max] = [days * Math.min(...each), days * Math.max(...each)];
  assert.ok(min <= requests && requests <= max, `${requests}, not ${min} to ${max}`);
}

const select = (sql) => queryArchive(gate.state, sql);
const update = (sql) => select(`${sql}; SELECT 1 AS done`);

/** Returns the stored rows of all pages, ordered by day and path. */
const archivedRows = () =>
  select("SELECT day, path, human, ai, total FROM page_views ORDER BY day, path");

/** Returns the archived counts of all days and pages, and the number of staged pages. */
const archivedState = async () => [
  await archivedRows(),
  await select(`SELECT day, pages, human, ai, total, visitors_total,
     (SELECT count(*) FROM staging) AS staged FROM day ORDER BY day`),
];

async function assertEqualToTruth() {
  const expected = (await truths()).flatMap(({ date, views }) =>
    views
      .filter(({ total }) => total > 0)
      .map(({ path, ...rest }) => ({ day: dayNumber(date), path, ...counts(rest) }))
      .sort(byPath),
  );
  assert.ok(expected.length > DAYS * PAGES * 0.5, `${expected.length} rows`);
  assert.deepEqual(await archivedRows(), expected);
}

/** Returns the number of requests that repeat the target of an earlier request. */
function countRepetitions(requests) {
  return requests.length - new Set(requests.map(({ target }) => target)).size;
}

function assertWithinShare(requests) {
  const share = Math.floor((LIMIT * SHARE) / 100);
  const times = requests.map(({ at }) => at);
  assert.ok(times.every(Number.isFinite), "each request has a time");
  for (const [at, time] of times.entries()) {
    const next = times[at + share];
    const isApart = next === undefined || next - time >= MIN_WINDOW_MS;
    assert.ok(isApart, `${share + 1} requests within ${next - time} ms`);
  }
}

const archiveRequests = async () =>
  (await gate.upstream.requests()).filter(({ target }) => target.includes("/v1/analytics/"));

async function resetUpstream() {
  await gate.upstream.reset();
  await gate.upstream.setLimits({ analytics: null });
}

test("returns an empty archive and reports yesterday as missing before the first cron run", async () => {
  const status = await read("/status");
  assert.deepEqual(status.missing, [{ dateFrom: daysAgo(1), dateTo: daysAgo(0) }]);
  assert.deepEqual([status.complete, status.partial, status.failed], [0, 0, 0]);
  const { views, missing } = await read(query({ dateFrom: daysAgo(2), dateTo: daysAgo(0) }));
  assert.deepEqual([views, missing], [[], [daysAgo(2), daysAgo(1)]]);
});

test("estimates a backfill on request, and starts it once for repeated requests", async () => {
  const dateFrom = daysAgo(DAYS);
  const estimated = await read(`/backfill${query({ dateFrom })}`);
  assert.deepEqual([estimated.dateFrom, estimated.days], [dateFrom, DAYS]);
  const [first] = (await read("/status")).missing;
  assert.equal(first.dateFrom, daysAgo(1), "an estimate starts no backfill");
  for (const json of [{ dateFrom }, { dateFrom }, { dateFrom: daysAgo(2) }]) {
    const answer = await send("/backfill", json);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json.dateFrom, dateFrom);
  }
  const { missing } = await read("/status");
  assert.deepEqual(missing, [{ dateFrom, dateTo: daysAgo(0) }]);
  const oldest = await read(`/backfill${query({ dateFrom: "1999-01-01" })}`);
  assert.equal(oldest.dateFrom, daysAgo(730), "days past their retention are not fetched");
});

const LONG = { timeout: DAYS * PAGES > 10_000 ? 900_000 : 90_000 };

test(
  "archives every day correctly and within its share of the budget, despite faults and a kill",
  LONG,
  async (context) => {
    const each = await countRequests(days());
    await gate.upstream.setFaultRate({ perThousand: 50, seed: 7 });
    for (;;) {
      await gate.gateway.runCron();
      const { complete, requests } = await read("/status");
      if (complete >= 2) {
        assertEstimated(requests, DAYS - complete, each);
        break;
      }
    }
    // Kill the gateway while it waits for a response.
    await gate.upstream.hold({ times: 1, process: true });
    let isHeld = false;
    const held = gate.upstream.untilHeld(1, 30_000).then(() => {
      isHeld = true;
    });
    let running;
    while (!isHeld) {
      running = gate.gateway.runCron().catch((error) => error);
      await Promise.race([running, held]);
    }
    await gate.restart();
    await running;
    await gate.upstream.release();
    await runUntilComplete();

    const { injected } = await gate.upstream.faultRate();
    const faults = add(Object.values(injected));
    await gate.upstream.clearFaultRate();
    const requests = await archiveRequests();
    const counted = `${requests.length} requests, ${faults} faults`;
    context.diagnostic(`${counted}: ${JSON.stringify(injected)}`);
    assert.ok(faults > 0, "at least one fault is injected");
    assert.equal(new Set(requests.map(({ target }) => target)).size, add(each));
    const repetitions = countRepetitions(requests);
    assert.ok(repetitions <= faults + 1, "at most one repetition for each fault and the kill");
    assertWithinShare(requests);
    await assertEqualToTruth();
  },
);

test(
  "sends no request and changes nothing when cron runs on a complete archive",
  LONG,
  async () => {
    const before = await archivedState();
    await resetUpstream();
    await gate.gateway.runCron();
    assert.deepEqual(await archiveRequests(), []);
    assert.deepEqual(await archivedState(), before);
  },
);

/** Returns a predicate that accepts the path `prefix` and all paths below it. */
const below = (prefix) => (path) =>
  prefix === "/" || path === prefix || path.startsWith(`${prefix}/`);
const sum = (rows) => ({
  human: add(rows.map(({ human }) => human)),
  ai: add(rows.map(({ ai }) => ai)),
  total: add(rows.map(({ total }) => total)),
});

/** Returns the first day of the group with `date`, computed in another way than the gateway's. */
function groupOf(group, date) {
  const at = new Date(`${date}T00:00:00Z`);
  if (group === "week") at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
  if (group === "month") at.setUTCDate(1);
  return at.toISOString().slice(0, 10);
}

function expectedSeries(truths, group, select) {
  const groups = new Map();
  for (const truth of truths) {
    const date = groupOf(group, truth.date);
    groups.set(date, [...(groups.get(date) ?? []), select(truth)]);
  }
  return [...groups].map(([date, selected]) => ({
    date,
    ...sum(selected),
    days: selected.length,
    missing: [],
  }));
}

test("returns series by day, week and month that match the upstream for the site, a page and a prefix", async () => {
  const known = await truths();
  await gate.upstream.reset();
  const { views } = known[0];
  const page = views.find(({ path }) => path.split("/").length > 2).path;
  const prefix = page.slice(0, page.lastIndexOf("/"));
  const selections = [
    [{}, ({ totals }) => totals],
    [{ path: page }, (day) => sum(day.views.filter(({ path }) => path === page))],
    [{ path: "/nowhere" }, () => sum([])],
    [{ prefix }, (day) => sum(day.views.filter(({ path }) => below(prefix)(path)))],
    [{ prefix: page }, (day) => sum(day.views.filter(({ path }) => below(page)(path)))],
    [{ prefix: "/" }, (day) => sum(day.views)],
    [{ prefix: "/nowhere" }, () => sum([])],
  ];
  for (const [selection, select] of selections) {
    for (const group of ["day", "week", "month"]) {
      const series = await read(query({ ...allDays(), ...selection, group }));
      const rows = series.views.map(({ visitors: _, ...row }) => row);
      const what = `${JSON.stringify(selection)} by ${group}`;
      assert.deepEqual(rows, expectedSeries(known, group, select), what);
      assert.deepEqual([series.missing, series.nextCursor], [[], null]);
      for (const [at, { visitors }] of series.views.entries()) {
        const isSiteByDay = group === "day" && Object.keys(selection).length === 0;
        assert.deepEqual(visitors, isSiteByDay ? counts(known[at].visitors) : null, what);
      }
    }
  }
  assert.deepEqual(await archiveRequests(), [], "series are not read from the upstream");
});

/** Moves the fetch times of all stored days back by `count` days. */
const age = (count) => update(`UPDATE day SET fetched = fetched - ${count * DAY_MS}`);

test("corrects an archived day whose counts grew later, with one more fetch", LONG, async () => {
  await resetUpstream();
  await gate.upstream.setLate({ day: daysAgo(2), percent: 50 });
  const grown = await truthOf(daysAgo(2));
  const [before] = (await read(query({ dateFrom: daysAgo(2), dateTo: daysAgo(1) }))).views;
  assert.notDeepEqual(counts(before), counts(grown.totals), "the late counts differ");
  await age(1);
  const due = add(await countRequests(unsettled()));
  while ((await archiveRequests()).length < due) await gate.gateway.runCron();
  await gate.gateway.runCron();
  const requests = await archiveRequests();
  assert.deepEqual([requests.length, countRepetitions(requests)], [due, 0]);
  const [corrected] = (await read(query({ dateFrom: daysAgo(2), dateTo: daysAgo(1) }))).views;
  assert.deepEqual(counts(corrected), counts(grown.totals));
  await assertEqualToTruth();
});

test(
  "archives a day that grows during its fetch without mixing old and new rows",
  LONG,
  async () => {
    await resetUpstream();
    await age(1);
    const due = add(await countRequests(unsettled()));
    await gate.upstream.hold({ target: "offset=250", times: 1 });
    let isHeld = false;
    const held = gate.upstream.untilHeld(1).then(() => {
      isHeld = true;
    });
    // A run ends when the archive's share of the budget is spent. The next run continues the fetch.
    const running = (async () => {
      while (!isHeld) await gate.gateway.runCron();
    })();
    await held;
    const targets = (await archiveRequests()).map((request) => request.target);
    const date = /dateFrom=([-\d]+)/.exec(targets.find((it) => it.includes("offset=250")))[1];
    const old = await read(query(allDays()));
    await gate.upstream.setLate({ day: date, percent: 50 });
    await gate.upstream.release();
    await running;
    const ofDate = (series) => series.views.find((row) => row.date === date);
    const expected = await truthOf(date);
    const isNew = (row) => row.total === expected.totals.total;
    assert.ok(!isNew(ofDate(old)), "the day is unchanged until its fetch is complete");
    while (!isNew(ofDate(await read(query(allDays()))))) await gate.gateway.runCron();
    const visitorRequests = (await archiveRequests()).filter(
      (request) => request.target.includes("/visitors?") && request.target.includes(`=${date}&`),
    );
    assert.equal(visitorRequests.length, 2, "the fetch starts again");
    // The gateway discarded three responses of the first fetch: the visitors and two pages.
    while ((await archiveRequests()).length < due + 3) await gate.gateway.runCron();
    await assertEqualToTruth();
  },
);

test("lists the missing days of a series instead of counting them as zero", async () => {
  const lost = daysAgo(3);
  await update(`UPDATE day SET fetched = NULL WHERE day = ${dayNumber(lost)}`);
  const byDay = await read(query(allDays()));
  assert.deepEqual(byDay.missing, [lost]);
  assert.equal(byDay.views.length, DAYS - 1);
  assert.ok(!byDay.views.some(({ date }) => date === lost));
  const byMonth = await read(query({ ...allDays(), group: "month" }));
  assert.deepEqual(byMonth.missing, [lost]);
  const ofMonth = byMonth.views.find(({ date }) => date === groupOf("month", lost));
  if (ofMonth) {
    const sameMonth = days().filter((date) => groupOf("month", date) === ofMonth.date);
    assert.deepEqual([ofMonth.missing, ofMonth.days], [[lost], sameMonth.length - 1]);
    const held = byDay.views.filter(({ date }) => groupOf("month", date) === ofMonth.date);
    assert.deepEqual(counts(ofMonth), sum(held));
  }
  const { missing, requests } = await read("/status");
  assert.deepEqual(missing, [{ dateFrom: lost, dateTo: daysAgo(2) }]);
  assertEstimated(requests, 1, await countRequests(days()));
});

test(
  "reports a day that fails to archive and its next attempt, and archives the other days",
  LONG,
  async () => {
    const failing = daysAgo(3);
    const target = `dateFrom=${failing}`;
    await gate.upstream.fault({ target, times: 0, fault: { kind: "status", status: 500 } });
    while ((await read("/status")).failed === 0) await gate.gateway.runCron();
    const { failures, missing } = await read("/status");
    assert.deepEqual([failures[0].date, missing.length], [failing, 1]);
    assert.equal(failures[0].problem, "/problems/upstream-error");
    assert.ok(Date.parse(failures[0].retryAt) > 0);
    await gate.upstream.clearFaults();
    await runUntilComplete();
    assert.deepEqual((await read("/status")).failures, []);
    await assertEqualToTruth();
  },
);

test("deletes archived days past their retention, and no others", LONG, async () => {
  const RETAINED_DAYS = 4;
  await gate.gateway.stop();
  Object.assign(gate.settings.vars, {
    ARCHIVE_RETENTION_DAYS: String(RETAINED_DAYS),
    // The removal of a project from the list does not end its retention.
    ARCHIVE_PROJECTS: "",
  });
  gate.gateway = await startGateway(gate.settings);
  await gate.gateway.runCron();
  if (DAYS - RETAINED_DAYS > 10) {
    for (let at = 0; at < DAYS; at += 10) await gate.gateway.runCron();
  }
  const [{ first }] = await select("SELECT min(day) AS first FROM page_views");
  assert.equal(first, dayNumber(daysAgo(RETAINED_DAYS)));
  await gate.gateway.stop();
  gate.settings.vars.ARCHIVE_PROJECTS = PROJECT;
  gate.gateway = await startGateway(gate.settings);
  const { dateFrom, complete } = await read("/status");
  assert.deepEqual([dateFrom, complete], [daysAgo(RETAINED_DAYS), RETAINED_DAYS]);
  const series = await read(query(allDays()));
  assert.equal(series.views.length, RETAINED_DAYS);
});

for (const [what, settings, words] of [
  ["without a database", { archive: false }, /D1 .*ARCHIVE/],
  ["without its tables", { archive: "without tables" }, /d1 migrations apply ARCHIVE/],
]) {
  test(`returns 501 and the step to take from the archive routes ${what}`, async () => {
    await gate.gateway.stop();
    const elsewhere = join(gate.state, what);
    gate.gateway = await startGateway({ ...gate.settings, ...settings, state: elsewhere });
    for (const [path, json] of [
      [query(allDays())],
      ["/status"],
      [`/backfill${query({ dateFrom: daysAgo(1) })}`],
      ["/backfill", { dateFrom: daysAgo(1) }],
    ]) {
      const { detail } = assertProblem(await send(path, json), 501, "archive-not-configured");
      assert.match(detail, words);
    }
  });
}
