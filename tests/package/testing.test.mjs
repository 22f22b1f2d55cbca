/** `quillgate/testing`: the fake gateway with the package's client. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client, ConnectionError, NotFoundError, RateLimitError, TimeoutError } from "quillgate";
import { createFakeGateway } from "quillgate/testing";
import { unwrap, WebhookVerificationError } from "quillgate/webhooks";

const START = Date.parse("2026-11-25T09:00:00Z");
const MINUTE = 60_000;

/** Returns a fake whose clock only the test moves, and a client of it. */
function start(options) {
  const gateway = createFakeGateway({ now: () => START, ...options });
  const client = new Client({ ...gateway.clientOptions, logLevel: "off" });
  return { gateway, client };
}

describe("jobs of the fake gateway", () => {
  test("ends a fake job with the result of the test's function", async () => {
    const finish = ({ prompt }) => (prompt.includes("!") ? { status: "failed" } : { prLink: null });
    const { gateway, client } = start({ jobDuration: 5, finish });
    const failing = await client.agentJobs.create({ prompt: "Fail!" });
    const unchanged = await client.agentJobs.create({ prompt: "Change nothing" });
    gateway.advance(5);
    const [one, other] = await Promise.all(
      [failing, unchanged].map(({ id }) => client.agentJobs.get(id)),
    );
    assert.deepEqual([one.status, one.prLink], ["failed", null]);
    assert.deepEqual([other.status, other.prLink], ["completed", null]);
  });

  test("gives each fake job a unique id", async () => {
    const { gateway, client } = start();
    gateway.addJob({ id: "job-2", prompt: "One" });
    const two = await client.agentJobs.create({ prompt: "Two" });
    const three = gateway.addJob({ prompt: "Three", id: undefined });
    assert.equal(new Set(["job-2", two.id, three.id]).size, 3);
    assert.throws(() => gateway.addJob({ id: "job-2", prompt: "Again" }), {
      name: "TypeError",
      message: "there is already a job job-2",
    });
    assert.deepEqual(
      gateway.jobs.map(({ id, prompt }) => [id, prompt]),
      [
        ["job-2", "One"],
        [two.id, "Two"],
        [three.id, "Three"],
      ],
    );
  });

  test("includes the follow-ups of a fake job in every result", async () => {
    const finished = [];
    const finish = ({ messages }) => {
      finished.push(messages);
      return { status: "failed" };
    };
    const { gateway, client } = start({ finish });
    const added = gateway.addJob({ prompt: "Document it", messages: ["Shorter"] });
    assert.deepEqual(added.messages, ["Shorter"]);
    await client.agentJobs.sendMessage(added.id, { prompt: "With an example" });
    const both = ["Shorter", "With an example"];
    gateway.advance(MINUTE);
    assert.deepEqual(finished, [both]);
    assert.deepEqual(gateway.updateJob(added.id, { status: "completed" }).messages, both);
    assert.deepEqual(gateway.jobs[0].messages, both);
    const { messages } = await client.agentJobs.record(added.id);
    assert.deepEqual(
      messages.map(({ prompt, author }) => [prompt, author]),
      both.map((prompt) => [prompt, "fake-author"]),
    );
  });

  test("lists added fake jobs of any state, author and age page by page", async () => {
    const { gateway, client } = start();
    for (let day = 1; day <= 30; day++) {
      gateway.addJob({ prompt: `Day ${day}`, createdBy: "alice", status: "archived" });
    }
    const days = [];
    for await (const { prompt } of client.agentJobs.list({ author: "alice" })) days.push(prompt);
    assert.equal(days.length, 30);
    assert.equal(days[0], "Day 30");
    assert.equal((await client.agentJobs.list({ state: "failed" })).jobs.length, 0);
  });

  test("streams new fake jobs and deleted records to watchAll", async () => {
    const { gateway, client } = start();
    const { id } = gateway.addJob({ prompt: "One" });
    const seen = [];
    for await (const { job, deleted } of client.agentJobs.watchAll()) {
      seen.push(job?.status ?? deleted);
      if (seen.length === 1) gateway.updateJob(id, { status: "failed" });
      if (seen.length === 2) await client.agentJobs.deleteRecord(id);
      if (seen.length === 3) break;
    }
    assert.deepEqual(seen, ["active", "failed", id]);
    await assert.rejects(client.agentJobs.record(id), NotFoundError);
  });
});

describe("deployments of the fake gateway", () => {
  test("ends fake deployments and previews by the clock, with the test's result", async () => {
    const finishDeployment = ({ branch }) =>
      branch === null ? {} : { status: "failure", logs: ["Failed to build"], summary: null };
    const { gateway, client } = start({ finishDeployment, deploymentDuration: 5 });
    const { statusId } = await client.deployments.create();
    const preview = await client.previews.create({ branch: "docs/New#1" });
    assert.equal(preview.previewUrl, "https://acme-docs-new-1.mintlify.site");
    assert.equal((await client.deployments.get(statusId)).status, "in_progress");
    gateway.advance(5);
    const ended = await client.deployments.wait(statusId);
    assert.deepEqual([ended.status, ended.endedAt], ["success", new Date(START + 5).toISOString()]);
    const { deployments } = await client.deployments.list();
    assert.deepEqual(
      deployments.map(({ branch, isLive, createdBy }) => [branch, isLive, createdBy]),
      [
        ["docs/New#1", false, "fake-author"],
        [null, true, "fake-author"],
      ],
    );
    const { logs } = await client.deployments.get(preview.statusId);
    assert.deepEqual(logs, ["Failed to build"]);
    assert.deepEqual(
      gateway.requests.slice(0, 2).map(({ status, params }) => [status, params]),
      [
        [202, {}],
        [202, { branch: "docs/New#1" }],
      ],
    );
  });

  test("streams fake deployments and deleted records to watchAll, but no jobs", async () => {
    const { gateway, client } = start();
    gateway.addJob({ prompt: "One" });
    const { _id } = gateway.addDeployment({ branch: "b" });
    const seen = [];
    for await (const { deployment, deleted } of client.deployments.watchAll()) {
      seen.push(deployment?.status ?? deleted);
      if (seen.length === 1) gateway.updateDeployment(_id, { status: "failure" });
      if (seen.length === 2) await client.deployments.deleteRecord(_id);
      if (seen.length === 3) break;
    }
    assert.deepEqual(seen, ["in_progress", "failure", _id]);
    await assert.rejects(client.deployments.deleteRecord(_id), NotFoundError);
    await assert.rejects(client.deployments.wait("nope"), {
      code: "/problems/deployment-not-found",
    });
  });

  test("starts one fake deployment or run of an automation per idempotency key", async () => {
    const { gateway, client } = start();
    const options = { idempotencyKey: "release-42" };
    const first = await client.deployments.create(options);
    assert.deepEqual(await client.deployments.create(options), first);
    assert.equal(gateway.deployments.length, 1);
    const run = await client.automations.run("w1", { idempotencyKey: "other" });
    assert.deepEqual(run, { schemaId: "w1", instanceId: "run-1", jobId: "background-1" });
  });

  test("signs a webhook for the end of a fake deployment", async () => {
    const { gateway, client } = start();
    const webhookUrl = "https://bot.example/hook";
    const { statusId } = await client.deployments.create({ webhookUrl });
    await assert.rejects(gateway.createWebhook(statusId), /is in_progress/);
    gateway.advance(90_000);
    const request = await gateway.createWebhook(statusId);
    assert.equal(request.url, webhookUrl);
    const now = () => START + 90_000;
    const event = await unwrap(await request.text(), request.headers, gateway.webhookKey, { now });
    assert.deepEqual(
      [event.type, event.isLive, event.data._id, event.data.status],
      ["deployment.ended", true, statusId, "success"],
    );
  });
});

describe("reports of the fake gateway", () => {
  test("continues the fake archive's reports by cursor", async () => {
    const dates = ["2026-10-01", "2026-10-02", "2026-10-03"];
    const { client } = start({
      reports: {
        dailyViews: dates.map((date) => ({ date, days: 1, missing: [], visitors: {} })),
        archivedViews: dates.map((date) => ({ path: `/${date}`, human: 1 })),
      },
    });
    const range = { dateFrom: "2026-10-01", dateTo: "2026-10-04", limit: 2 };
    const first = await client.analytics.dailyViews(range);
    assert.deepEqual(
      first.views.map(({ date }) => date),
      dates.slice(0, 2),
    );
    const second = await first.nextPage();
    assert.deepEqual(
      second.views.map(({ date }) => date),
      dates.slice(2),
    );
    assert.equal(await second.nextPage(), null);
    const archived = await client.analytics.archivedViews(range);
    assert.equal(archived.views.length, 2);
    assert.equal(archived.totals.human, 3);
    assert.equal((await archived.nextPage()).views.length, 1);
  });

  test("computes a fake report from its parameters, and lets a test replace it", async () => {
    const searches = ({ dateFrom }) => [{ searchQuery: dateFrom, hits: 3 }];
    const { gateway, client } = start({ reports: { searches } });
    const page = await client.analytics.searches({ dateFrom: "2026-10-01" });
    assert.equal(page.searches[0].searchQuery, "2026-10-01");
    gateway.reports.callerStats = { web: 4, total: 4 };
    assert.deepEqual(await client.analytics.callerStats({}), {
      web: 4,
      api: 0,
      other: 0,
      total: 4,
    });
  });
});

describe("failures of the fake gateway", () => {
  test("fails one request of the operation that an injected failure names", async () => {
    const { gateway, client } = start();
    gateway.fail("quota-exceeded", { operation: "agentJobs.create", retryAfter: 90 });
    assert.deepEqual((await client.agentJobs.list()).jobs, []);
    await assert.rejects(client.agentJobs.create({ prompt: "a" }), (error) => {
      assert.ok(error instanceof RateLimitError);
      assert.deepEqual([error.code, error.retryAfter], ["/problems/quota-exceeded", 90]);
      return true;
    });
    assert.equal((await client.agentJobs.create({ prompt: "a" })).status, "active");
  });

  test("repeats an injected failure as often as requested, so that retries fail", async () => {
    const { gateway, client } = start();
    const impatient = client.withOptions({ maxRetries: 0 });
    gateway.fail("upstream-unavailable", { times: 2 });
    for (const status of [503, 503, 200]) {
      const call = impatient.agentJobs.list().withResponse();
      const found = await call.then(
        ({ response }) => response.status,
        (error) => error.status,
      );
      assert.equal(found, status);
    }
  });

  test("injects broken connections and requests without a response", async () => {
    const { gateway, client } = start();
    const impatient = client.withOptions({ maxRetries: 0, timeout: 20 });
    gateway.fail("connection-error");
    await assert.rejects(impatient.agentJobs.list(), ConnectionError);
    gateway.fail("no-response");
    await assert.rejects(impatient.agentJobs.list(), TimeoutError);
    assert.deepEqual(
      gateway.requests.map(({ status }) => status),
      [null, null],
    );
  });
});

describe("requests to the fake gateway", () => {
  test("records requests to the fake gateway with their operation, parameters and status", async () => {
    const { gateway, client } = start();
    await client.agentJobs.create({ prompt: "Document it" });
    await assert.rejects(client.agentJobs.get("nope"), NotFoundError);
    assert.deepEqual(
      gateway.requests.map(({ operation, method, params, status }) => [
        operation,
        method,
        params,
        status,
      ]),
      [
        ["agentJobs.create", "POST", { prompt: "Document it" }, 201],
        ["agentJobs.get", "GET", { id: "nope" }, 404],
      ],
    );
    assert.ok(gateway.requests[0].headers.get("idempotency-key"));
  });

  test("accepts requests to the fake gateway with any base URL", async () => {
    const { gateway, client } = start();
    const { id } = gateway.addJob({ prompt: "Document it" });
    for (const baseUrl of ["http://localhost:8788", "https://docs.example/a/gateway/"]) {
      const { agentJobs } = client.withOptions({ baseUrl });
      assert.equal((await agentJobs.get(id)).id, id);
      assert.equal((await agentJobs.list()).jobs[0].id, id);
    }
  });

  test("rejects aborted requests to the fake gateway", async () => {
    const { gateway, client } = start();
    const { id } = await client.agentJobs.create({ prompt: "Document it" });
    const signal = AbortSignal.timeout(30);
    await assert.rejects(client.agentJobs.wait(id, { signal }), { name: "TimeoutError" });
    gateway.advance(MINUTE);
    assert.equal(gateway.jobs[0].status, "completed");
  });
});

describe("webhooks of the fake gateway", () => {
  test("signs webhooks of the fake gateway with its key for the receiver's address", async () => {
    const { gateway, client } = start();
    const headers = { "webhook-url": "https://bot.example/hook" };
    const { id } = await client.agentJobs.create({ prompt: "Document it" }, { headers });
    await assert.rejects(gateway.createWebhook(id), /is active/);
    gateway.advance(MINUTE);
    const request = await gateway.createWebhook(id);
    assert.equal(request.url, "https://bot.example/hook");
    const body = await request.text();
    const now = () => START + MINUTE;
    const event = await unwrap(body, request.headers, gateway.webhookKey, { now });
    assert.deepEqual(
      [event.type, event.data.id, event.project],
      ["agent_job.completed", id, "acme"],
    );
    assert.equal(event.webhookUrl, "https://bot.example/hook");
    const forged = unwrap(
      body.replace("completed", "failed"),
      request.headers,
      gateway.webhookKey,
      { now },
    );
    await assert.rejects(forged, WebhookVerificationError);
  });

  test("sends a fake webhook about a job that the gateway no longer watches", async () => {
    const { gateway } = start();
    const { id } = gateway.addJob({ prompt: "Document it" });
    const { type } = await (await gateway.createWebhook(id, "agent_job.unfinished")).json();
    assert.equal(type, "agent_job.unfinished");
    await assert.rejects(gateway.createWebhook("nope"), TypeError);
  });
});
