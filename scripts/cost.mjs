/**
 * Estimates what a gateway costs at Cloudflare in a month of 30 days:
 *
 *     npm run cost                                 10, 1,000 and 100,000 jobs and views a day
 *     npm run cost -- --jobs 200 --views 5000      your own numbers; --pages for the archive
 *
 * docs/operate/cost.md has its table, and explains the assumptions.
 */
import { parseArgs } from "node:util";

/**
 * The billed operations of an action: requests to Durable Objects, rows written (an alarm is a row)
 * and rows read at most. tests/gateway/deployment/cost.test.mjs measures them in workerd.
 */
export const MEASURED = Object.freeze({
  creation: { objects: 1, written: 14, read: 20 },
  read: { objects: 0, written: 0, read: 0 },
  stream: { objects: 1, written: 3, read: 60 },
  poll: { objects: 1, written: 4, read: 60 },
  change: { objects: 1, written: 8, read: 60 },
  end: { objects: 1, written: 7, read: 60 },
  report: { objects: 1, written: 8, read: 30 },
  cachedReport: { objects: 0, written: 0, read: 0 },
  bytesPerJob: 2700,
  bytesPerArchivedRow: 70,
  /** Rows of D1 per page that has views on a day, written by the first fetch. */
  archiveRowsPerPage: 1.1,
});

/** Every request of a browser reads its session. Every stored row is later deleted: a write. */
const COSTS = {
  ...{ ...MEASURED, session: { objects: 1, written: 0, read: 1 } },
  deletion: { ...MEASURED.creation, objects: 0 },
};
/** Processor time in milliseconds, of bench/results.md. Includes the time in objects. */
const CPU = { creation: 1.439, jobRead: 0.301, report: 1.217, cachedReport: 0.121 };
/** Each polled job has one change before its end. */
const ASSUMED = { pollsPerJob: 14, cachedShare: 0.8, secondsPerResponse: 1, bytesPerLine: 1000 };
/** The gateway's defaults. An archived row is written at most four times, and then deleted. */
const LIMITS = {
  creations: 100,
  polls: 20,
  analytics: 100,
  jobDays: 90,
  archiveDays: 730,
  cronRuns: 144,
  archiveWrites: 5,
};
const OBJECT_GB = 0.128;
const DAYS = 30;
const MILLION = 1e6;
const PLAN_DOLLARS = 5;

/** Included in the paid plan per month, dollars per further unit, and the free plan's daily limit. */
const PRICES = {
  "Worker requests": [10 * MILLION, 0.3 / MILLION, 100_000],
  "Worker CPU, ms": [30 * MILLION, 0.02 / MILLION],
  "object requests": [MILLION, 0.15 / MILLION, 100_000],
  "object duration, GB-s": [400_000, 12.5 / MILLION, 13_000],
  "object rows read": [25_000 * MILLION, 0.001 / MILLION, 5 * MILLION],
  "object rows written": [50 * MILLION, 1 / MILLION, 100_000],
  "object storage, GB": [5, 0.2, 5 / DAYS],
  "D1 rows written": [50 * MILLION, 1 / MILLION],
  "D1 storage, GB": [5, 0.75],
  "logs written, GB": [50, 0.25, 0.5],
  "logs stored, GB-month": [12, 0.1],
};

/** Returns the quantities of a month, their price and the first exceeded limit of the free plan. */
function estimate({ jobs, views, pages = 500 }) {
  const projects = Math.max(1, Math.ceil(jobs / (24 * LIMITS.creations)));
  const polls = Math.min(jobs * ASSUMED.pollsPerJob, projects * 24 * LIMITS.polls);
  const ends = Math.min(jobs, polls);
  const changes = Math.min(jobs, polls - ends);
  const uncached = Math.min(views * (1 - ASSUMED.cachedShare), 24 * LIMITS.analytics);
  const cron = pages > 0 ? LIMITS.cronRuns : 0;
  const plain = polls - ends - changes;
  const counts = {
    ...{ creation: jobs, deletion: jobs, stream: jobs, poll: plain, change: changes, end: ends },
    ...{ report: uncached, session: 3 * jobs + views },
  };
  const sum = (key) =>
    Object.entries(counts).reduce((all, [name, count]) => all + count * COSTS[name][key], 0);
  const requests = 3 * jobs + views + cron;
  const jobTime = jobs * (CPU.creation + 2 * CPU.jobRead);
  const responses = jobs + polls + uncached;
  const logs = (requests * ASSUMED.bytesPerLine) / 1e9;
  const perDay = {
    "Worker requests": requests,
    "Worker CPU, ms": jobTime + uncached * CPU.report + (views - uncached) * CPU.cachedReport,
    "object requests": sum("objects") + cron,
    "object duration, GB-s": responses * ASSUMED.secondsPerResponse * OBJECT_GB,
    "object rows read": sum("read"),
    "object rows written": sum("written"),
    "object storage, GB": (jobs * LIMITS.jobDays * MEASURED.bytesPerJob) / 1e9 / DAYS,
    "D1 rows written": pages * MEASURED.archiveRowsPerPage * LIMITS.archiveWrites,
    "D1 storage, GB": (pages * LIMITS.archiveDays * MEASURED.bytesPerArchivedRow) / 1e9 / DAYS,
    "logs written, GB": logs,
    "logs stored, GB-month": (logs * 7) / DAYS,
  };
  const names = Object.keys(PRICES);
  const month = Object.fromEntries(names.map((name) => [name, perDay[name] * DAYS]));
  const dollars = names.reduce((all, name) => {
    const [included, price] = PRICES[name];
    return all + Math.max(0, month[name] - included) * price;
  }, PLAN_DOLLARS);
  const exceeded = names.find((name) => perDay[name] > (PRICES[name][2] ?? Infinity));
  return { projects, month, dollars, exceeded };
}

function format(number) {
  if (number >= MILLION) return `${(number / MILLION).toPrecision(3)} M`;
  return number >= 100 ? Math.round(number).toLocaleString("en-US") : `${+number.toPrecision(2)}`;
}

export function makeTable(loads) {
  const results = loads.map((load) => estimate(load));
  const row = (name, show) => `| ${[name, ...results.map(show)].join(" | ")} |`;
  const heads = loads.map(
    ({ jobs, views }) => `${format(jobs)} jobs, ${format(views)} views a day`,
  );
  const lines = [
    `| a month | ${heads.join(" | ")} |`,
    row("---", () => "--:"),
    row("projects needed", ({ projects }) => projects),
    ...Object.keys(PRICES).map((name) => row(name, ({ month }) => format(month[name]))),
    row("**dollars**", ({ dollars }) => `**${dollars.toFixed(2)}**`),
    row("free plan, without archive", ({ exceeded }) => (exceeded ? `no: ${exceeded}` : "fits")),
  ];
  return `${lines.join("\n")}\n`;
}

export const LOADS = [10, 1_000, 100_000].map((count) => ({ jobs: count, views: count }));

if (process.argv[1] === import.meta.filename) {
  const options = {
    jobs: { type: "string" },
    views: { type: "string" },
    pages: { type: "string" },
  };
  const given = Object.entries(parseArgs({ options }).values);
  const wrong = given.find(([, text]) => !/^\d{1,15}$/.test(text));
  if (wrong) throw new TypeError(`--${wrong[0]} must be a whole number`);
  const numbers = given.map(([name, text]) => [name, Number(text)]);
  const own = { jobs: 0, views: 0, ...Object.fromEntries(numbers) };
  process.stdout.write(makeTable(numbers.length > 0 ? [own] : LOADS));
}
