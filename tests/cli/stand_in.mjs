/** A stand-in for a gateway, which answers the paths that the command line asks for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { startScriptedServer } from "../package/scripted_server.mjs";

export const PROJECT = "demo-docs";
const ANALYTICS = `/v1/analytics/${PROJECT}`;
const AGENT = `/v2/agent/${PROJECT}`;
const LIMIT = 100;
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, "pkg", "package.json"), "utf8"));

/** How many rows each report has in all, and how a row is made. */
const REPORTS = {
  views: { member: "views", row: pageRow, byOffset: true },
  visitors: { member: "visitors", row: pageRow, byOffset: true },
  searches: { member: "searches", row: searchRow },
  feedback: { member: "feedback", row: feedbackRow },
};

function pageRow(at) {
  return { path: `/guides/${at}, "so"\nto say`, human: at, ai: 2 * at, total: 3 * at };
}

function searchRow(at) {
  const more = { ctr: 0.5, topClickedPage: null, lastSearchedAt: "2026-01-01T00:00:00Z" };
  return { searchQuery: `query ${at}`, hits: 10_000 - at, ...more };
}

function feedbackRow(at) {
  const text = { path: `/p/${at}`, comment: "=1+2", createdAt: "2026-01-01T00:00:00Z" };
  const kind = { source: "contextual", status: "pending", helpful: true, contact: null };
  return { id: `f${at}`, ...text, ...kind };
}

/**
 * Starts it.
 *
 * @param {object} [options]
 * @param {number} [options.rows] of each report
 * @param {(received: object, number: number) => object | undefined} [options.instead] answers a request in its place
 */
export async function startStandIn({ rows = 1100, instead } = {}) {
  let used = 0;
  const server = await startScriptedServer((received, number) => {
    const other = instead?.(received, number);
    if (other !== undefined) return other;
    const url = new URL(received.path, "http://gateway");
    if (url.pathname === "/healthz") return { json: { status: "ok" } };
    if (url.pathname === "/openapi.json") return { json: { info: { version: VERSION } } };
    if (!received.headers.authorization) return problem(401, "unauthorized", "no token");
    return answer(received, url, rows, () => {
      used += 1;
      return budgetFields(LIMIT - used);
    });
  });
  const refillBudget = () => {
    used = 0;
  };
  return { ...server, refillBudget };
}

/** The fields by which a gateway tells its budget. */
export function budgetFields(left, next) {
  return {
    "ratelimit-policy": `"analytics";q=${LIMIT};w=3600`,
    ratelimit: `"analytics";r=${left}${next === undefined ? "" : `;t=${next}`}`,
  };
}

/** A refusal as a gateway writes it. */
export function problem(status, type, detail, headers = {}) {
  const json = { type: `/problems/${type}`, title: type, status, detail };
  return { status, headers: { "x-request-id": "request-1", ...headers }, json };
}

function answer({ method, body }, url, rows, spend) {
  const { pathname, searchParams } = url;
  const report = REPORTS[pathname.slice(ANALYTICS.length + 1)];
  if (pathname.startsWith(`${ANALYTICS}/`) && report !== undefined) {
    return { headers: spend(), json: reportPage(report, searchParams, rows) };
  }
  if (pathname === `${ANALYTICS}/views/daily`) return { json: dailyPage(searchParams) };
  if (pathname === `${ANALYTICS}/views/daily/status`) return { json: STATUS };
  if (pathname === `${ANALYTICS}/views/daily/backfill`) return { json: BACKFILL };
  if (pathname === `${AGENT}/jobs`) return { json: { jobs: [LISTED_JOB], nextCursor: null } };
  if (method === "POST" && pathname === `${AGENT}/job`) {
    return { status: 201, json: job("active", JSON.parse(body).prompt.trim()) };
  }
  if (method === "POST" && pathname === `${AGENT}/job/job_1/message`)
    return { json: job("active") };
  if (pathname === `${AGENT}/job/job_1/events`) {
    return { headers: { "content-type": "text/event-stream" }, text: events("completed") };
  }
  if (pathname === `${AGENT}/job/job_2/events`) {
    return { headers: { "content-type": "text/event-stream" }, text: events("failed") };
  }
  return problem(404, "not-found", "there is nothing here");
}

function reportPage({ member, row, byOffset }, query, rows) {
  const begin = Number(query.get(byOffset ? "offset" : "cursor") ?? 0);
  const end = Math.min(rows, begin + Number(query.get("limit") ?? 50));
  const page = Array.from({ length: end - begin }, (_, at) => row(begin + at));
  const hasMore = end < rows;
  const totals = { human: 1, ai: 1, total: 2 };
  if (byOffset) return { totals, [member]: page, hasMore };
  return { [member]: page, totalSearches: rows, nextCursor: hasMore ? String(end) : null, hasMore };
}

/** Two pages of one day each. */
function dailyPage(query) {
  const isFirst = query.get("cursor") === null;
  const date = isFirst ? "2026-01-01" : "2026-01-02";
  const counts = { human: 1200, ai: 34, total: 1234, days: 1, missing: [] };
  const visitors = isFirst ? { human: 5, ai: 6, total: 11 } : null;
  const missing = isFirst ? [] : ["2026-01-03"];
  return { views: [{ date, ...counts, visitors }], missing, nextCursor: isFirst ? "two" : null };
}

const STATUS = {
  ...{ dateFrom: "2026-01-01", dateTo: "2026-01-31", complete: 28, partial: 1, failed: 1 },
  missing: [{ dateFrom: "2026-01-03", dateTo: "2026-01-05" }],
  failures: [
    { date: "2026-01-03", attempts: 2, retryAt: "2026-02-01T00:00:00Z", problem: "storage" },
  ],
  ...{ requests: 6, hours: 1, completeAt: "2026-02-01T01:00:00Z", bytes: 12345 },
};
const BACKFILL = {
  ...{ dateFrom: "2026-01-01", days: 2, requests: 6, hours: null, completeAt: null },
};
const LISTED_JOB = {
  ...{ id: "job_1", status: "completed", prompt: "Say \u001b[31mhello", createdBy: "alice" },
  ...{ createdAt: "2026-01-01T00:00:00Z", prLink: null, checkedAt: null },
};

/** A job as the platform has it. */
export function job(status, ref = "main") {
  const prLink = status === "completed" ? "https://github.com/acme/docs/pull/7" : null;
  const source = { repository: "acme/docs", ref };
  return { id: "job_1", status, source, model: "m", prLink, createdAt: null, archivedAt: null };
}

function events(last) {
  return ["active", last]
    .map((status, at) => `id: ${at + 1}\nevent: job\ndata: ${JSON.stringify(job(status))}\n\n`)
    .join("");
}
