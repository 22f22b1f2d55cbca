/** Deployments, previews and automations through the gateway. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Receiver } from "../../harness/receiver.mjs";
import { hook, keyed, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, useServer } from "../recorded_gateway.mjs";
import { ACME, listOf, OTHER, statusOf, updateOf, useSite } from "./site.mjs";

const HOUR_MS = 3600 * 1000;
/** In each of these projects, only one test or describe block starts deployments. */
const OWN = ["keys", "walk", "hooks", "away", "gone", "wait", "watched", "lost", "stuck"];

const receiver = useServer(new Receiver());
const site = useSite("deployments", () => ({
  projects: [ACME, OTHER, ...OWN],
  upstream: { deploymentLimit: 1e6, previewLimit: 1e6 },
  vars: {
    DEPLOYMENT_LIMIT_PER_10_SECONDS: "100000",
    PREVIEW_LIMIT_PER_MINUTE: "100000",
    ...webhookVars(receiver),
  },
}));
beforeEach(() => site.upstream.clearFaults());

const ids = ({ deployments }) => deployments.map(({ statusId }) => statusId);

describe("a write", () => {
  test("is forwarded without a body, and answered with Mintlify's status", async () => {
    const answer = await site.deploy();
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual(Object.keys(answer.json), ["statusId"]);
    const sent = (await site.upstream.requests()).at(-1);
    assert.equal(sent.target, updateOf(ACME));
    assert.ok(!sent.headers.some(([name]) => name === "content-type"), "no body is announced");
    const limit = answer.header("ratelimit-policy");
    assert.match(limit, /^"create-deployment";q=\d+;w=10$/);
  });

  test("has an unknown outcome after a lost response, until the caller forces it", async () => {
    const operation = "deployments.create";
    await site.upstream.fault({ operation, fault: { kind: "reset", process: true } });
    const deploy = (extra = []) => site.deploy("keys", { headers: [...keyed("lost"), ...extra] });
    assertProblem(await deploy(), 502, "upstream-unreachable");
    const { outcome } = assertProblem(await deploy(), 409, "outcome-unknown");
    assert.equal(outcome, "unknown");
    const forced = await deploy([["Idempotency-Retry", "force"]]);
    assert.equal(forced.status, 202, forced.text);
    assert.deepEqual((await deploy()).json, forced.json);
    const started = await site.upstream.deployments();
    assert.equal(started.filter(({ projectId }) => projectId === "keys").length, 2);
  });
});

describe("a list", () => {
  test("shows what is live, also after a failure of a later step", async () => {
    const ended = async (course, expected) => {
      const id = await site.deployed("walk");
      await site.upstream.setDeployment(id, course);
      const found = async () => {
        const { deployments } = (await site.get(listOf("walk"))).json;
        return deployments.find(({ statusId }) => statusId === id);
      };
      let row = await found();
      while (row.status === "queued" || row.status === "in_progress") row = await found();
      assert.deepEqual([row.status, row.isLive], expected);
    };
    const summary = "Failed to revalidate domain: docs.acme.example";
    const published = ["Successfully updated deployment"];
    await ended({ status: "success" }, ["success", true]);
    await ended({ status: "failure", summary: "Failed to build", logs: [] }, ["failure", false]);
    await ended({ status: "failure", summary, logs: published }, ["failure", true]);
  });

  test("loses a deleted record, also for its key", async () => {
    const id = await site.deployed("gone", { headers: keyed("gone") });
    assert.equal((await site.remove("gone", id)).status, 204);
    assert.deepEqual(ids((await site.get(listOf("gone"))).json), []);
    assertProblem(await site.remove("gone", id), 404, "deployment-not-found");
    assertProblem(await site.deploy("gone", { headers: keyed("gone") }), 409, "record-deleted");
    assertProblem(await site.remove("empty-of-all", id), 403, "project-not-allowed");
  });
});

describe("a status", () => {
  test("is Mintlify's, with the deployment's project and log", async () => {
    const id = await site.deployed();
    const { status, json } = await site.get(statusOf(id));
    assert.deepEqual([status, json._id, json.projectId, json.status], [200, id, ACME, "queued"]);
    assert.ok(Array.isArray(json.logs));
  });

  test("of another project is 404 on every route", async () => {
    const id = await site.deployed(OTHER);
    const as = { projects: [ACME] };
    const routes = [statusOf(id), `${listOf(ACME)}/${id}/events`];
    for (const target of routes) {
      assertProblem(await site.get(target, { as }), 404, "deployment-not-found");
      const waiting = await site.get(target, { as, headers: [["Prefer", "wait=1"]] });
      assertProblem(waiting, 404, "deployment-not-found");
    }
    assertProblem(await site.remove(ACME, id), 404, "deployment-not-found");
    const events = await site.get(`${listOf(OTHER)}/${id}/events`, { as });
    assertProblem(events, 403, "project-not-allowed");
    const text = (await site.get(listOf(ACME), { as })).text;
    assert.ok(!text.includes(id));
  });

  test("that was started elsewhere is found by the project in the response", async () => {
    const createdAt = Date.now() - HOUR_MS;
    await site.upstream.addDeployment("elsewhere-1", { projectId: "away", createdAt });
    const found = await site.get(statusOf("elsewhere-1"));
    assert.deepEqual([found.status, found.json.projectId], [200, "away"]);
    const as = { projects: [ACME] };
    assertProblem(await site.get(statusOf("elsewhere-1"), { as }), 404, "deployment-not-found");
    const unknown = await site.get(statusOf("never-1"));
    assertProblem(unknown, 404, "deployment-not-found");
    // Nothing tells a deployment of another project from an unknown one.
    const foreign = await site.get(statusOf(await site.deployed(OTHER)), { as });
    assertProblem(foreign, 404, "deployment-not-found");
    for (const name of ["server-timing", "cache-status"])
      assert.equal(typeof foreign.header(name), typeof unknown.header(name), name);
    // Its events would tell a caller of any project about it.
    for (const project of ["away", ACME]) {
      const events = await site.get(`${listOf(project)}/elsewhere-1/events`);
      assertProblem(events, 404, "deployment-not-found");
    }
  });

  test("is the stored one while Mintlify fails", async () => {
    const id = await site.deployed();
    const operation = "deployments.get";
    const fault = { kind: "status", status: 503 };
    await site.upstream.fault({ operation, target: id, times: 3, fault });
    const answer = await site.get(statusOf(id));
    assert.deepEqual([answer.status, answer.json._id], [200, id]);
    assert.match(answer.header("cache-status"), /detail=stale/);
  });

  test("waits for a change with Prefer: wait", async () => {
    const id = await site.deployed("wait");
    const waiting = site.get(statusOf(id), { headers: [["Prefer", "wait=25"]] });
    await site.upstream.setDeployment(id, { status: "success", logs: [] });
    const { status, json } = await waiting;
    assert.deepEqual([status, json.status], [200, "success"]);
  });
});

test("a deployment has its stored state while Mintlify does not know it", async () => {
  const id = await site.deployed("lost");
  const fault = { kind: "json", status: 404, body: { error: "Deployment not found" } };
  await site.upstream.fault({ operation: "deployments.get", target: id, times: 0, fault });
  const answer = await site.get(statusOf(id));
  assert.deepEqual([answer.status, answer.json._id], [200, id]);
  assert.match(answer.header("cache-status"), /fwd-status=404/);
  await site.remove("lost", id);
  assertProblem(await site.get(statusOf(id)), 404, "deployment-not-found");
});

test("stuck polls do not block writes", async () => {
  for (let at = 0; at < 6; at += 1) await site.deployed("stuck");
  await site.upstream.hold({ operation: "deployments.get" });
  // A list polls only states that are old enough.
  const lists = [];
  while ((await site.upstream.counters()).held < 3) {
    lists.push(site.get(listOf("stuck")));
    await sleep(50);
  }
  assert.equal((await site.deploy("stuck")).status, 202);
  await site.upstream.release();
  for (const { status } of await Promise.all(lists)) assert.equal(status, 200);
});

test("a stream of a deployment ends with it, and that of all shows the change", async () => {
  const all = site.watch("walk");
  await all.opened;
  const id = await site.deployed("walk");
  const own = site.watch("walk", id);
  const first = await own.event();
  assert.deepEqual([first.type, JSON.parse(first.data)._id], ["deployment", id]);
  assert.equal((await site.jobs.health("walk")).watchers, 2);
  await site.upstream.setDeployment(id, { status: "success", logs: [] });
  await own.ended;
  const find = (name, isExpected) =>
    all.until(({ events }) =>
      events.some(({ type, data }) => type === name && isExpected(JSON.parse(data))),
    );
  await find("deployment", ({ statusId, isLive }) => statusId === id && isLive === true);
  assert.equal((await site.remove("walk", id)).status, 204);
  await find("deleted", (deleted) => deleted.id === id);
});

test("an ended deployment is no longer polled for the watchers of all", async () => {
  const all = site.watch("watched");
  await all.opened;
  const [ended, running] = [await site.deployed("watched"), await site.deployed("watched")];
  await site.upstream.setDeployment(ended, { status: "success", logs: [] });
  const isEnd = ({ data }) => JSON.parse(data).statusId === ended && JSON.parse(data).isLive;
  await all.until(({ events }) => events.some(isEnd));
  const reads = async (id) => (await site.upstream.deployment(id)).reads.count;
  const [before, start] = [await reads(ended), await reads(running)];
  while ((await reads(running)) < start + 3) await sleep(20);
  assert.equal(await reads(ended), before);
});

test("a webhook announces the end and whether the content is live", async () => {
  const path = "/deployment-ended";
  const id = await site.deployed("hooks", { headers: hook(receiver.url + path) });
  const summary = "Failed to revalidate subdomain: acme";
  const logs = ["Successfully updated deployment", summary];
  await site.upstream.setDeployment(id, { status: "failure", summary, logs });
  const { json } = await receiver.next((delivery) => delivery.path === path, 60_000);
  const { type, project, isLive, data } = json;
  assert.deepEqual([type, project, isLive, data._id], ["deployment.ended", "hooks", true, id]);
});
