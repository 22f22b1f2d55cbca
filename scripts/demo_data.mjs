/**
 * Demo of `npm start` and of the screenshots. This module creates eight jobs and four deployments,
 * and fills the archive with ninety days.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { accessClaims, mintToken } from "../tests/harness/token.mjs";

/** A day takes one request to archive, because its 240 rows fit on one page. */
export const DEMO_SITE = {
  data: "demo",
  pages: 240,
  feedback: 120,
  searches: 60,
  conversations: 240,
  deploymentDurationMs: 9_000,
};

const ARCHIVED_DAYS = 90;
const DAY_MS = 86_400_000;
/** A run of the archive makes at most 100 requests. */
const MAX_ARCHIVE_RUNS = 10;
/** The gateway polls a listed job at most every `JOB_POLL_SECONDS`. */
const LIST_PAUSE_MS = 250;
const MAX_LISTS = 120;

/** Authors, prompts, and the fields that the simulated Mintlify reports for each job. */
const JOBS = [
  {
    author: "maya",
    prompt:
      "Explain how to rotate an API key without downtime, with an example request for each step",
    job: { status: "completed", ref: "docs/rotate-api-keys" },
    hasPullRequest: true,
  },
  {
    author: "docs-bot",
    prompt: "Check every code sample in the quickstart against version 4.2 of the TypeScript SDK",
    job: { status: "completed" },
  },
  {
    author: "jonas",
    prompt: "Import the screenshots of the new dashboard from the design repository",
    job: { status: "failed" },
  },
  {
    author: "maya",
    prompt: "Merge the two pages about rate limits and add redirects for the old paths",
    job: { status: "archived", archivedAt: new Date(Date.now() - DAY_MS).toISOString() },
    hasPullRequest: true,
  },
  {
    author: "priya",
    prompt: "Add a worked example with numbers to the proration guide",
    followUp: "Please also cover downgrades, and round all amounts to cents",
    job: { status: "active", ref: "docs/proration-example" },
    hasPullRequest: true,
  },
  {
    author: "docs-bot",
    prompt: "Write the changelog entry for release 4.3 from the merged pull requests",
    job: { status: "queued" },
  },
  {
    author: "jonas",
    prompt: "Document partial refunds: readers search for them, and no page answers",
    job: { status: "needs_review" },
    hasPullRequest: true,
  },
  {
    author: "priya",
    prompt:
      "Replace the parsed body with the raw body in all examples that verify webhook signatures",
    job: { status: "active" },
  },
];

/** Authors, branches of previews, courses at the simulated Mintlify, and ends. Oldest first. */
const DEPLOYMENTS = [
  { author: "maya", course: "success", end: "success true" },
  { author: "docs-bot", branch: "docs/rotate-api-keys", course: "success", end: "success true" },
  { author: "jonas", course: "live-failure", end: "failure true" },
  { author: "priya", course: "fail", end: "failure false" },
];

/** Creates everything, and waits until the states are recorded and the archive is complete. */
export async function fillDemo(site) {
  await Promise.all([createJobs(site), createDeployments(site), fillArchive(site)]);
}

async function createJobs({ project, secret, gateway, upstream }) {
  for (const [index, { author, prompt, followUp, job, hasPullRequest }] of JOBS.entries()) {
    const call = caller(gateway.url, { project, secret, author, scope: "jobs:create jobs:read" });
    const { id } = await call("POST", `/v2/agent/${project}/job`, { prompt });
    if (followUp) {
      await call("POST", `/v2/agent/${project}/job/${id}/message`, { prompt: followUp });
    }
    const prLink = hasPullRequest ? `https://github.com/acme/docs/pull/${412 + index}` : null;
    await upstream.setJob(id, { ...job, prLink });
  }
  const call = caller(gateway.url, { project, secret, author: "demo", scope: "jobs:read" });
  const wanted = JOBS.map(({ job, hasPullRequest = false }) => `${job.status} ${hasPullRequest}`);
  await waitForStates(wanted, async () => {
    const { jobs } = await call("GET", `/v2/agent/${project}/jobs`);
    return jobs.map(({ status, prLink }) => `${status} ${prLink !== null}`);
  });
}

/** Lists states, newest first, until the gateway has polled each. */
async function waitForStates(wanted, list) {
  for (let lists = 0; lists < MAX_LISTS; lists++) {
    const states = await list();
    if (states.reverse().join() === wanted.join()) return;
    await sleep(LIST_PAUSE_MS);
  }
  throw new Error(`the states are not ${wanted.join()} in ${MAX_LISTS} lists`);
}

async function createDeployments({ project, secret, gateway, upstream }) {
  const scope = "deployments:create deployments:read";
  for (const { author, branch, course } of DEPLOYMENTS) {
    await upstream.queueCourse(course);
    const call = caller(gateway.url, { project, secret, author, scope });
    if (branch === undefined) await call("POST", `/v1/project/update/${project}`);
    else await call("POST", `/v1/project/preview/${project}`, { branch });
  }
  const call = caller(gateway.url, { project, secret, author: "demo", scope });
  const wanted = DEPLOYMENTS.map(({ end }) => end);
  await waitForStates(wanted, async () => {
    const { deployments } = await call("GET", `/v1/project/${project}/deployments`);
    return deployments.map(({ status, isLive }) => `${status} ${isLive}`);
  });
}

async function fillArchive({ project, secret, gateway }) {
  const scope = "analytics:read gateway:operate";
  const call = caller(gateway.url, { project, secret, author: "operator", scope });
  const daily = `/v1/analytics/${project}/views/daily`;
  const dayBefore = (days) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  const dateFrom = dayBefore(ARCHIVED_DAYS);
  await call("POST", `${daily}/backfill`, { dateFrom });
  for (let run = 0; run < MAX_ARCHIVE_RUNS; run++) {
    await gateway.runCron();
    const query = new URLSearchParams({ dateFrom, dateTo: dayBefore(0) });
    const { missing } = await call("GET", `${daily}?${query}`);
    if (missing.length === 0) return;
  }
  throw new Error(`the archive is incomplete after ${MAX_ARCHIVE_RUNS} runs`);
}

/** Returns a function that sends requests with an author's token. */
function caller(url, { project, secret, author, scope }) {
  const claims = accessClaims({ sub: author, projects: [project], scope, ttlSeconds: 600 });
  const headers = {
    authorization: `Bearer ${mintToken(claims, secret)}`,
    "content-type": "application/json",
  };
  return async (method, path, body) => {
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (response.ok) return response.json();
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
}
