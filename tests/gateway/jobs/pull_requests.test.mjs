import assert from "node:assert/strict";
import { after, beforeEach, describe, test } from "node:test";
import { startGitHub } from "../../harness/github.mjs";
import { OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { assertCommonHead, assertProblem, before } from "../recorded_gateway.mjs";

const TOKEN = "github_pat_that_is_shown_nowhere_5f1c";
const UNKNOWN = { state: "unknown", isDraft: false, mergedAt: null };
const OPEN = { ...UNKNOWN, state: "open" };

let github;
const jobs = useJobs("pull-requests", async () => {
  github = await startGitHub();
  return { vars: { GITHUB_TOKEN: TOKEN, GITHUB_API_URL: github.url } };
});
before(() => jobs.gate.known(TOKEN));
after(() => github.stop());
beforeEach(() => github.reset());

const target = (id, project) => jobs.path(id, { project, rest: "/pull-request" });

async function finishedJob(prLink) {
  const { id } = await jobs.create();
  await jobs.finish(id, { prLink });
  return id;
}

async function stateOf(id) {
  const answer = await jobs.get(target(id));
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes(TOKEN));
  return answer.json;
}

const paths = () => github.requests.map(({ path }) => path);

describe("the state of a pull request", () => {
  for (const [name, pull, expected] of [
    ["a draft", { draft: true }, { ...OPEN, isDraft: true }],
    ["a closed pull request", { state: "closed" }, { ...UNKNOWN, state: "closed" }],
    [
      "a merged pull request",
      { state: "closed", merged_at: "2026-01-01T00:00:00Z" },
      { ...UNKNOWN, state: "merged", mergedAt: "2026-01-01T00:00:00.000Z" },
    ],
  ]) {
    test(`returns ${name}`, async () => {
      const id = await finishedJob(github.add(pull));
      const answer = await jobs.get(target(id));
      assertCommonHead(answer);
      assert.deepEqual([answer.status, answer.json], [200, expected]);
      assert.match(answer.header("ratelimit-policy"), /^"read-jobs"/);
    });
  }

  test("caches the state of a pull request", async () => {
    const link = github.add();
    const [first, second] = [await finishedJob(link), await finishedJob(link)];
    assert.deepEqual(await stateOf(first), OPEN);
    github.set(link, { state: "closed" });
    for (const id of [first, second]) assert.deepEqual(await stateOf(id), OPEN);
    assert.equal(github.requests.length, 1);
  });
});

test("does not follow GitHub's redirects, so that the token reaches no other host", async () => {
  const id = await finishedJob(github.add());
  const elsewhere = await startGitHub();
  github.setFault({ status: 302, headers: { location: `${elsewhere.url}/repos/a/b/pulls/1` } });
  assert.deepEqual(await stateOf(id), UNKNOWN);
  assert.deepEqual(elsewhere.requests, []);
  await elsewhere.stop();
});

test("returns 404 for the pull request of a job unknown in the project", async () => {
  const id = await finishedJob(github.add());
  for (const path of [target("unknown"), target(id, OTHER_PROJECT)]) {
    assertProblem(await jobs.get(path), 404, "job-not-recorded");
  }
  assert.deepEqual(paths(), []);
});

test("requests pull request states without a token only if switched on", async () => {
  const id = await finishedJob(github.add());
  delete jobs.vars.GITHUB_TOKEN;
  jobs.vars.PULL_REQUEST_STATES = "on";
  await jobs.restart("stop");
  assert.deepEqual(await stateOf(id), OPEN);
  assert.equal(github.requests[0].headers.authorization, undefined);

  for (const vars of [{ GITHUB_TOKEN: TOKEN, PULL_REQUEST_STATES: "off" }, {}]) {
    github.reset();
    delete jobs.vars.PULL_REQUEST_STATES;
    Object.assign(jobs.vars, { GITHUB_TOKEN: undefined }, vars);
    await jobs.restart("stop");
    assert.deepEqual(await stateOf(id), UNKNOWN);
    assert.deepEqual(paths(), []);
  }
});
