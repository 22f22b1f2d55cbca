import { before, PROJECT, useGate } from "../recorded_gateway.mjs";

export const DAY_MS = 86_400_000;
/** `ARCHIVE_DAYS=90 ARCHIVE_PAGES=5000` simulates three months of a large site. */
export const DAYS = Number(process.env.ARCHIVE_DAYS ?? 10);
export const PAGES = Number(process.env.ARCHIVE_PAGES ?? 600);
/** The gateway's analytics limit per window. Fetching all days takes several windows. */
export const LIMIT = Number(process.env.ARCHIVE_LIMIT ?? 30);
const CLOCK_RATE = 5;
const WINDOW_SECONDS = 3;
/** A window, less a tolerance for the latency of two requests, by the simulator's clock. */
export const MIN_WINDOW_MS = 1000 * WINDOW_SECONDS - 50 * CLOCK_RATE;
export const SHARE = 33;
export const RECHECK_DAYS = 3;
export const OTHER = "other-docs";
const DAILY = `/v1/analytics/${PROJECT}/views/daily`;
const SCOPES = "analytics:read gateway:operate";

/** The tests of a file take less than this time of the fast clock. */
const MAX_RUN_MS = 20 * 60_000;
const untilMidnight = DAY_MS - (Date.now() % DAY_MS);
/** The clocks of the gateway and the simulator skip the rest of a day that would end too soon. */
const forwardMs = untilMidnight < MAX_RUN_MS ? untilMidnight : 0;
/** The time from which all dates are computed. */
const startedAt = Date.now() + forwardMs;
export const daysAgo = (count) => new Date(startedAt - count * DAY_MS).toISOString().slice(0, 10);
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

export function send(path, json) {
  const method = json ? "POST" : "GET";
  return gate.send({ method, target: DAILY + path, json, claims: { scope: SCOPES } });
}

export const read = (path) => gate.read(DAILY + path, { claims: { scope: SCOPES } });

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
export const days = () => Array.from({ length: DAYS }, (_, at) => daysAgo(DAYS - at));
export const byPath = (a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));
export const counts = ({ human, ai, total }) => ({ human, ai, total });
