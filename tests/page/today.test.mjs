import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForStorage } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForStorage();
const { isOutdated, readTodayJobs } = await importSource("today/today_jobs.ts");
const { usedUpUntil } = await importSource("shell/rate_limit.ts");
const { failedOf, hasOtherDeployments } = await importSource("today/today_deployments.ts");
const { deploymentState, hasEnded } = await importSource("deployments/deployment_state.ts");
const { safeHref } = await importSource("shell/outside_link.tsx");
const { Draft } = await importSource("sending/draft.ts");
const { PersonData } = await importSource("session/person_data.ts");

const NOW = Date.parse("2026-11-28T12:00:00Z");
const DAY_MS = 86_400_000;

const deploymentOf = (statusId, changes = {}) => ({
  statusId,
  status: "failure",
  isLive: false,
  branch: null,
  createdAt: new Date(NOW - 60_000).toISOString(),
  ...changes,
});
const idsOf = (deployments) => deployments.map(({ statusId }) => statusId).join("");

test("Today shows the failed deployments of the last 28 days, up to five", () => {
  const old = new Date(NOW - 29 * DAY_MS).toISOString();
  const many = ["a", "b", "c", "d", "e", "f"].map((id) => deploymentOf(id));
  assert.equal(idsOf(failedOf([...many, deploymentOf("g")], NOW)), "abcde");
  assert.equal(idsOf(failedOf([deploymentOf("a", { createdAt: old })], NOW)), "");
  assert.equal(idsOf(failedOf([deploymentOf("a", { createdAt: null })], NOW)), "");
});

test("Today shows no failed deployment that is live, or whose branch is live since", () => {
  const live = { status: "success", isLive: true };
  const list = [
    deploymentOf("a", { isLive: true }),
    deploymentOf("b"),
    deploymentOf("c", { branch: "fix" }),
    deploymentOf("d", { branch: "docs", ...live }),
    deploymentOf("e", { branch: "docs" }),
    deploymentOf("f", { status: "in_progress", isLive: null }),
  ];
  assert.equal(idsOf(failedOf(list, NOW)), "c");
});

test("Today reads deployments again after a new one, another state or a deletion", () => {
  const read = [deploymentOf("a"), deploymentOf("b")];
  const isOther = (...news) => hasOtherDeployments(read, news);
  assert.equal(isOther(["a", deploymentOf("a")]), false);
  assert.equal(isOther(["a", deploymentOf("a", { isLive: true })]), true);
  assert.equal(isOther(["b", null]), true);
  assert.equal(isOther(["z", null]), false);
  assert.equal(isOther(["z", deploymentOf("z")]), true);
  assert.equal(isOther(["z", deploymentOf("z", { createdAt: "2020-01-01T00:00:00Z" })]), false);
});

test("states are spelled in words, and an unknown one is not an end", () => {
  const word = (status, isLive = null) => deploymentState({ status, isLive }).word;
  assert.equal(word("queued"), "Queued");
  assert.equal(word("in_progress"), "In progress");
  assert.equal(word("success", true), "Live");
  assert.equal(word("failure", false), "Failed");
  assert.equal(word("failure", true), "Live, with a warning");
  assert.equal(word("failure"), "Failed");
  assert.equal(word("needs_review"), "Needs review");
  assert.equal(word(null), "Not known yet");
  assert.equal(deploymentState({ status: "failure", isLive: true }).tone, "warning");
  const ended = ["success", "failure", "queued", "paused"].filter((status) => hasEnded({ status }));
  assert.deepEqual(ended, ["success", "failure"]);
});

test("only an https address without a password is a link", () => {
  assert.equal(safeHref("https://acme-fix.mintlify.site"), "https://acme-fix.mintlify.site/");
  for (const text of [
    null,
    "",
    "acme.mintlify.site",
    "http://acme.mintlify.site",
    "javascript:alert(1)",
    "https://user:secret@acme.mintlify.site",
    "https://user@acme.mintlify.site",
  ]) {
    assert.equal(safeHref(text), null, String(text));
  }
});

test("an attempt to deploy does not count as a draft that signing out deletes", () => {
  const data = new PersonData("zoë");
  const draft = new Draft(data.entry("deployment", "docs", "preview"));
  draft.edit("docs/fix");
  assert.equal(data.loss().drafts, 0);
});

function finishedJobs(count, changes = {}) {
  return Array.from({ length: count }, (_, at) => ({
    id: `${at}`,
    status: "completed",
    prLink: `https://github.com/acme/docs/pull/${at + 1}`,
    createdAt: new Date(NOW - at * 60_000).toISOString(),
    ...changes,
  }));
}

function read(jobs, { state = "merged", nextCursor = null } = {}) {
  const client = {
    agentJobs: { list: async () => ({ jobs, nextCursor }) },
    request: async () => ({ state }),
  };
  return readTodayJobs({ client, projectId: "acme" }, NOW, new AbortController().signal);
}

test("with more pull requests than were looked up, the number is known", async () => {
  const all = await read(finishedJobs(10));
  assert.deepEqual(all.toReview, { jobs: [], among: null });
  const { toReview, failed } = await read(finishedJobs(11));
  assert.deepEqual(toReview, { jobs: [], among: { count: 10, what: "pull request" } });
  assert.equal(failed.among, null);
});

test("with older jobs of the same weeks, the number of jobs is known", async () => {
  const { toReview, failed } = await read(finishedJobs(3), { nextCursor: "next" });
  assert.deepEqual([toReview.among, failed.among], Array(2).fill({ count: 3, what: "job" }));
  const old = finishedJobs(3, { createdAt: "2026-01-01T00:00:00Z" });
  assert.equal((await read(old, { nextCursor: "next" })).failed.among, null);
});

test("a new job, a deletion or another state of a job outdates what was read", () => {
  const jobs = finishedJobs(3);
  const [job] = jobs;
  const isOutdatedBy = (...news) =>
    isOutdated(
      jobs,
      news.map((job) => [job.id, job]),
    );
  assert.equal(isOutdatedBy(), false);
  assert.equal(isOutdatedBy(...jobs), false);
  assert.equal(isOutdatedBy({ ...job, status: "failed" }), true);
  assert.equal(isOutdatedBy({ ...job, prLink: null }), true);
  const other = { ...job, id: "other" };
  assert.equal(isOutdatedBy({ ...other, createdAt: "2026-12-01T00:00:00Z" }), true);
  assert.equal(isOutdatedBy({ ...other, createdAt: "2025-12-01T00:00:00Z" }), false);
  assert.equal(isOutdated(jobs, [[job.id, null]]), true);
  assert.equal(isOutdated(jobs, [["other", null]]), false);
});

test("a used-up limit ends when its next request becomes free", () => {
  const limit = { policy: "analytics", quota: 100, window: 3_600_000, left: 0, at: NOW };
  assert.equal(usedUpUntil({ ...limit, freesAt: NOW + 60_000 }, NOW), NOW + 60_000);
  assert.equal(usedUpUntil({ ...limit, freesAt: NOW + 60_000 }, NOW + 60_000), null);
  assert.equal(usedUpUntil({ ...limit, freesAt: null }, NOW), NOW + 3_600_000);
  assert.equal(usedUpUntil({ ...limit, left: 1, freesAt: null }, NOW), null);
  assert.equal(usedUpUntil(null, NOW), null);
});
