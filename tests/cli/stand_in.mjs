/** A stand-in for a gateway, with the routes that the command line calls. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { startScriptedServer } from "../package/scripted_server.mjs";
import { event } from "../package/streaming_server.mjs";

export const PROJECT = "demo-docs";
const ANALYTICS = `/v1/analytics/${PROJECT}`;
const AGENT = `/v2/agent/${PROJECT}`;
const SITE = `/v1/project/${PROJECT}`;
const STATUS_PATH = "/v1/project/update-status/";
const LIMIT = 100;
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, "pkg", "package.json"), "utf8"));

/** The paginated reports. The others are in `SINGLE_REPORTS`. */
const REPORTS = {
  views: { property: "views", makeRow: makePageRow, byOffset: true },
  visitors: { property: "visitors", makeRow: makePageRow, byOffset: true },
  searches: { property: "searches", makeRow: makeSearchRow },
  feedback: { property: "feedback", makeRow: makeFeedbackRow },
  assistant: { property: "conversations", makeRow: makeConversationRow },
};

function makePageRow(at) {
  return { path: `/guides/${at}, "so"\nto say`, human: at, ai: 2 * at, total: 3 * at };
}

function makeArchivedPage(query) {
  const isFirst = query.get("cursor") === null;
  const views = (isFirst ? [1, 2] : [3]).map(makePageRow);
  const totals = { human: 6, ai: 12, total: 18 };
  return { totals, views, missing: ["2026-01-02"], nextCursor: isFirst ? views[1].path : null };
}

function makeSearchRow(at) {
  const more = { ctr: 12.5, topClickedPage: null, lastSearchedAt: "2026-01-01T00:00:00Z" };
  return { searchQuery: `query ${at}`, hits: 10_000 - at, ...more };
}

function makeFeedbackRow(at) {
  const text = { path: `/p/${at}`, comment: "=1+2", createdAt: "2026-01-01T00:00:00Z" };
  const kind = { source: "contextual", status: "pending", helpful: true, contact: null };
  return { id: `f${at}`, ...text, ...kind };
}

function makeConversationRow(at) {
  const more = { responseType: "answer", sources: [], queryCategory: null, pageUrl: null };
  const answer = { response: "a response", resolutionStatus: null };
  const timestamp = "2026-01-01T00:00:00Z";
  return { id: `c${at}`, timestamp, query: `question ${at}`, ...answer, ...more };
}

export async function startStandIn({ rows = 1100, override } = {}) {
  let used = 0;
  const server = await startScriptedServer((received, number) => {
    const overriding = override?.(received, number);
    if (overriding !== undefined) return overriding;
    const url = new URL(received.path, "http://gateway");
    if (url.pathname === "/healthz") return { json: { status: "ok" } };
    if (url.pathname === "/openapi.json") return { json: { info: { version: VERSION } } };
    if (!received.headers.authorization) return problem(401, "unauthorized", "no token");
    return respond(received, url, rows, () => {
      used += 1;
      return budgetFields(LIMIT - used);
    });
  });
  const refillBudget = () => {
    used = 0;
  };
  return { ...server, refillBudget };
}

/** Returns header fields for `left` remaining requests. More are available in `next` seconds. */
export function budgetFields(left, next) {
  return {
    "ratelimit-policy": `"analytics";q=${LIMIT};w=3600`,
    ratelimit: `"analytics";r=${left}${next === undefined ? "" : `;t=${next}`}`,
  };
}

export function problem(status, type, detail, headers = {}) {
  const json = { type: `/problems/${type}`, title: type, status, detail };
  return { status, headers: { "x-request-id": "request-1", ...headers }, json };
}

const UNKNOWN = problem(502, "outcome-unknown", "the outcome is unknown");
export const OUTCOME_UNKNOWN = { ...UNKNOWN, json: { ...UNKNOWN.json, outcome: "unknown" } };

function respond({ method, body }, url, rows, spendBudget) {
  const { pathname, searchParams } = url;
  const report = REPORTS[pathname.slice(ANALYTICS.length + 1)];
  if (pathname.startsWith(`${ANALYTICS}/`) && report !== undefined) {
    return { headers: spendBudget(), json: makeReportPage(report, searchParams, rows) };
  }
  if (pathname === `${ANALYTICS}/views/daily`) return { json: makeDailyPage(searchParams) };
  if (pathname === `${ANALYTICS}/views/archived`) return { json: makeArchivedPage(searchParams) };
  if (pathname === `${ANALYTICS}/views/daily/status`) return { json: STATUS };
  if (pathname === `${ANALYTICS}/views/daily/backfill`) return { json: BACKFILL };
  const single = SINGLE_REPORTS[pathname.slice(ANALYTICS.length + 1)];
  if (single !== undefined) return { json: single };
  if (pathname === `${AGENT}/job/job_1/record`) {
    return method === "DELETE" ? { status: 204, text: "" } : { json: RECORD };
  }
  if (method === "GET" && pathname === `${AGENT}/job/job_1`) return { json: job("completed") };
  if (method === "GET" && pathname === `${AGENT}/job/job_3`) return { json: job("active") };
  if (pathname === `${AGENT}/jobs`) return { json: { jobs: [LISTED_JOB], nextCursor: null } };
  if (method === "POST" && pathname === `${AGENT}/job`) {
    return { status: 201, json: job("active", JSON.parse(body).prompt.trim()) };
  }
  if (method === "POST" && pathname === `${AGENT}/job/job_1/message`)
    return { json: job("active") };
  if (pathname === `${AGENT}/job/job_1/events`) return streamJob(job("active"), job("completed"));
  if (pathname === `${AGENT}/job/job_2/events`) return streamJob(job("active"), job("failed"));
  if (method === "POST" && pathname === `/v1/project/update/${PROJECT}`) {
    return { status: 202, json: { statusId: "s_live" } };
  }
  if (method === "POST" && pathname === `/v1/project/preview/${PROJECT}`) {
    return { status: 202, json: { statusId: "s_live", previewUrl: PREVIEW_URL } };
  }
  if (method === "POST" && pathname === `/v1/workflow/${PROJECT}/w_1/trigger`) {
    return { status: 202, json: { schemaId: "w_1", instanceId: "run_1", jobId: "b_1" } };
  }
  if (method === "GET" && pathname === `${SITE}/deployments`) {
    return { json: { deployments: LISTED_DEPLOYMENTS, nextCursor: null, revision: 1 } };
  }
  if (method === "DELETE" && pathname.startsWith(`${SITE}/deployments/s_`)) {
    return { status: 204, text: "" };
  }
  const end = ENDS[/^s_\w+(?=\/events$)/.exec(pathname.slice(`${SITE}/deployments/`.length))?.[0]];
  if (pathname.startsWith(`${SITE}/deployments/`) && end !== undefined) {
    return streamDeployment(deployment("in_progress", ["Building"]), end);
  }
  if (pathname.startsWith(STATUS_PATH)) {
    const found = ENDS[pathname.slice(STATUS_PATH.length)];
    if (found !== undefined) return { json: found };
    return problem(404, "deployment-not-found", "the gateway has no record of this deployment");
  }
  return problem(404, "not-found", "there is nothing here");
}

function makeReportPage({ property, makeRow, byOffset }, query, rows) {
  const begin = Number(query.get(byOffset ? "offset" : "cursor") ?? 0);
  const end = Math.min(rows, begin + Number(query.get("limit") ?? 50));
  const page = Array.from({ length: end - begin }, (_, at) => makeRow(begin + at));
  const hasMore = end < rows;
  const totals = { human: 1, ai: 1, total: 2 };
  if (byOffset) return { totals, [property]: page, hasMore };
  const nextCursor = hasMore ? String(end) : null;
  return { [property]: page, totalSearches: rows, nextCursor, hasMore };
}

function makeDailyPage(query) {
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

const RECORD = {
  ...{ job: LISTED_JOB, prompt: "Say hello\nto \u001b[31mreaders" },
  messages: [{ prompt: "Add an example", author: "bob", sentAt: "2026-01-01T00:01:00Z" }],
  changes: [{ at: "2026-01-01T00:02:00Z", status: "completed", prLink: null }],
};
const THREAD_ID = "01J9Z3K4M5N6P7Q8R9S0T1V2W3";
const SINGLE_REPORTS = {
  "feedback/by-page": {
    feedback: [{ path: "/guides/start", thumbsUp: 12, thumbsDown: 3, code: null, total: 15 }],
    hasMore: true,
  },
  "assistant/caller-stats": { web: 1200, api: 30, other: null, total: 1230 },
  [`assistant/threads/${THREAD_ID}`]: {
    ...{ threadId: THREAD_ID, createdAt: "2026-01-01T00:00:00Z" },
    messages: [{ id: "m1", role: "user", content: "How?", createdAt: "2026-01-01T00:00:00Z" }],
  },
};

export const PREVIEW_URL = "https://acme-docs-new.mintlify.site";
const PUBLISHED = "Successfully updated deployment";
const NOT_REVALIDATED = "Failed to revalidate domain: docs.acme.example";
const STEPS = Array.from({ length: 15 }, (_, at) => `Step ${at}`);
const ENDS = {
  s_live: deployment("success", ["Building", PUBLISHED], "Deployed"),
  s_warned: deployment("failure", ["Building", PUBLISHED, NOT_REVALIDATED], NOT_REVALIDATED),
  s_failed: deployment("failure", [...STEPS, "Failed to build\u001b[31m"], "Failed to build"),
};
const LISTED_DEPLOYMENTS = [
  {
    ...{ statusId: "s_live", status: "success", isLive: true, summary: "Deployed" },
    ...{ branch: "docs/new", previewUrl: PREVIEW_URL, createdBy: "alice" },
    ...{ createdAt: "2026-01-01T00:00:00Z", checkedAt: null },
  },
  {
    ...{ statusId: "s_warned", status: "failure", isLive: true, summary: NOT_REVALIDATED },
    ...{ branch: null, previewUrl: null, createdBy: "bob\u001b[31m" },
    ...{ createdAt: "2026-01-01T00:00:00Z", checkedAt: null },
  },
];

export function deployment(status, logs = [], summary = null) {
  const author = { name: "Ada", avatarUrl: null, githubUserId: 7 };
  const commit = { sha: "abc123", ref: "main", message: "Update the API\nand more" };
  const createdAt = "2026-01-01T00:00:00Z";
  return { _id: "s_live", projectId: PROJECT, status, logs, summary, author, commit, createdAt };
}

function streamEvents(name, states) {
  const text = states.map((state, at) => event(at + 1, name, state)).join("");
  return { headers: { "content-type": "text/event-stream" }, text };
}

export const streamJob = (...states) => streamEvents("job", states);
export const streamDeployment = (...states) => streamEvents("deployment", states);

/** A job in Mintlify's format. */
export function job(status, ref = "main") {
  const prLink = status === "completed" ? "https://github.com/acme/docs/pull/7" : null;
  const source = { repository: "acme/docs", ref };
  return { id: "job_1", status, source, model: "m", prLink, createdAt: null, archivedAt: null };
}
