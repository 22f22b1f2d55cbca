import assert from "node:assert/strict";
import { queryArchive } from "../../harness/gateway.mjs";
import { before, PROJECT, useGate } from "../recorded_gateway.mjs";

export const DAY_MS = 86_400_000;
/** `ARCHIVE_DAYS=90 ARCHIVE_PAGES=5000` simulates three months of a large site. */
export const DAYS = Number(process.env.ARCHIVE_DAYS ?? 10);
export const PAGES = Number(process.env.ARCHIVE_PAGES ?? 600);
export const PER_THOUSAND = 50;
/** The gateway's analytics limit per window. Fetching all days takes several windows. */
const LIMIT = Number(process.env.ARCHIVE_LIMIT ?? 30);
const CLOCK_RATE = 5;
const WINDOW_SECONDS = 3;
/** Tolerance for differences in the latency of two requests, by the simulator's clock. */
const LATENCY_TOLERANCE_MS = 50 * CLOCK_RATE;
const SHARE = 33;
const RECHECK_DAYS = 3;
export const OTHER = "other-docs";
export const DAILY = `/v1/analytics/${PROJECT}/views/daily`;
export const SCOPES = "analytics:read gateway:operate";

/** The tests of a file take less than this time of the fast clock. */
const MAX_RUN_MS = 20 * 60_000;
const untilMidnight = DAY_MS - (Date.now() % DAY_MS);
/** The clocks of the gateway and the simulator skip the rest of a day that would end too soon. */
const forwardMs = untilMidnight < MAX_RUN_MS ? untilMidnight : 0;
/** The time from which all dates are computed. */
const startedAt = Date.now() + forwardMs;
export const daysAgo = (count) => new Date(startedAt - count * DAY_MS).toISOString().slice(0, 10);
export const dayNumber = (date) => Date.parse(date) / DAY_MS;
export const gate = useGate(`archive-${process.pid}`, () => ({
  clockRate: CLOCK_RATE,
  stored: true,
  upstream: { pages: PAGES, varyingDays: true, projects: [PROJECT, OTHER] },
  prepare: (upstream) => upstream.forwardClock(forwardMs),
  gateway: {
    clock: { rate: CLOCK_RATE, epoch: Date.now() - forwardMs / (CLOCK_RATE - 1) },
    archive: true,
    vars: {
      ARCHIVE_PROJECTS: PROJECT,
      ARCHIVE_SHARE: String(SHARE),
      ARCHIVE_RECHECK_DAYS: String(RECHECK_DAYS),
      ANALYTICS_LIMIT_PER_HOUR: String(LIMIT),
      LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS),
      // If the gateway is killed during a request, the request counts against the budget for a
      // window plus this timeout.
      UPSTREAM_TIMEOUT_SECONDS: "10",
    },
  },
}));
before(() => gate.upstream.setLimits({ analytics: null }));

export function send(path, { json, scope = SCOPES, headers = [] } = {}) {
  const authorization = `Bearer ${gate.token({ scope })}`;
  const method = json ? "POST" : "GET";
  return gate.send({ method, target: DAILY + path, json, authorization, headers });
}

export async function read(path, options) {
  const answer = await send(path, options);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

export const query = (values) => `?${new URLSearchParams(values)}`;
export const allDays = () => ({ dateFrom: daysAgo(DAYS), dateTo: daysAgo(0) });

/** Runs the archive until no day is missing. Returns the archive's status. */
export async function runUntilComplete() {
  for (;;) {
    await gate.gateway.runCron();
    const status = await read("/status");
    if (status.missing.length === 0) return status;
  }
}

export async function truthOf(date) {
  const dateTo = new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10);
  const range = { dateFrom: date, dateTo };
  const { totals, views } = await gate.upstream.views(range);
  const visitors = await gate.upstream.report({ report: "visitors", ...range });
  return { date, totals, views, visitors: visitors.totals };
}

export const truths = () => Promise.all(days().map(truthOf));
/** Returns the requests that the archive needs for each day: one for visitors, one per 250 rows. */
export async function countRequests(dates) {
  const truths = await Promise.all(dates.map(truthOf));
  return truths.map(({ views }) => 1 + Math.max(1, Math.ceil(views.length / 250)));
}
export const add = (numbers) => numbers.reduce((all, number) => all + number, 0);
/** Returns the days that the archive fetches again if their last fetch was yesterday. */
export const unsettled = () => Array.from({ length: RECHECK_DAYS + 1 }, (_, at) => daysAgo(at + 1));

/** Asserts that an estimated number of requests is plausible. */
export function assertEstimated(requests, days, each) {
  const [min, max] = [days * Math.min(...each), days * Math.max(...each)];
  assert.ok(min <= requests && requests <= max, `${requests}, not ${min} to ${max}`);
}

export const days = () => Array.from({ length: DAYS }, (_, at) => daysAgo(DAYS - at));
export const counts = ({ human, ai, total }) => ({ human, ai, total });

/** Returns the stored rows of all pages, ordered by day and path. */
function archivedRows() {
  return queryArchive(
    gate.state,
    "SELECT day, path, human, ai, total FROM page_views ORDER BY day, path",
  );
}

/** Returns the archived counts of all days and pages, and the number of staged pages. */
export const archivedState = async () => [
  await archivedRows(),
  await queryArchive(
    gate.state,
    `SELECT day, pages, human, ai, total, visitors_total,
     (SELECT count(*) FROM staging) AS staged FROM day ORDER BY day`,
  ),
];

export async function assertEqualToTruth(truths) {
  const expected = truths.flatMap(({ date, views }) =>
    views
      .filter(({ total }) => total > 0)
      .map(({ path, ...rest }) => ({ day: dayNumber(date), path, ...counts(rest) }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
  );
  assert.ok(expected.length > DAYS * PAGES * 0.5, `${expected.length} rows`);
  assert.deepEqual(await archivedRows(), expected);
}

/** Returns the number of requests that repeat the target of an earlier request. */
export function countRepetitions(requests) {
  return requests.length - new Set(requests.map(({ target }) => target)).size;
}

export function assertWithinShare(requests) {
  const share = Math.floor((LIMIT * SHARE) / 100);
  const times = requests.map(({ at }) => at);
  assert.ok(times.every(Number.isFinite), "each request has a time");
  for (const [at, time] of times.entries()) {
    const next = times[at + share];
    assert.ok(
      next === undefined || next - time >= WINDOW_SECONDS * 1000 - LATENCY_TOLERANCE_MS,
      `${share + 1} requests within ${next - time} ms`,
    );
  }
}

export const archiveRequests = async () =>
  (await gate.upstream.requests()).filter(({ target }) => target.includes("/v1/analytics/"));
