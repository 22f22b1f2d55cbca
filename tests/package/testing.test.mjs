/** `quillgate/testing`: the fake gateway with the package's client. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client, ConnectionError, NotFoundError, RateLimitError, TimeoutError } from "quillgate";
import { createFakeGateway } from "quillgate/testing";
import { unwrap, WebhookVerificationError } from "quillgate/webhooks";

const START = Date.parse("2026-11-25T09:00:00Z");
const MINUTE = 60_000;

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
    const sent = messages.map(({ prompt, author }) => [prompt, author]);
    const expected = both.map((prompt) => [prompt, "fake-author"]);
    assert.deepEqual(sent, expected);
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
    const listed = deployments.map(({ branch, isLive, createdBy }) => [branch, isLive, createdBy]);
    assert.deepEqual(listed, [
      ["docs/New#1", false, "fake-author"],
      [null, true, "fake-author"],
    ]);
    const { logs } = await client.deployments.get(preview.statusId);
    assert.deepEqual(logs, ["Failed to build"]);
    const received = gateway.requests.slice(0, 2).map(({ status, params }) => [status, params]);
    assert.deepEqual(received, [
      [202, {}],
      [202, { branch: "docs/New#1" }],
    ]);
  });
});

describe("reports of the fake gateway", () => {
  test("computes a fake report from its parameters, and lets a test replace it", async () => {
    const searches = ({ dateFrom }) => [{ searchQuery: dateFrom, hits: 3 }];
    const { gateway, client } = start({ reports: { searches } });
    const page = await client.analytics.searches({ dateFrom: "2026-10-01" });
    assert.equal(page.searches[0].searchQuery, "2026-10-01");
    gateway.reports.callerStats = { web: 4, total: 4 };
    const expected = { web: 4, api: 0, other: 0, total: 4 };
    assert.deepEqual(await client.analytics.callerStats({}), expected);
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
    const statuses = gateway.requests.map(({ status }) => status);
    assert.deepEqual(statuses, [null, null]);
  });
});

describe("requests to the fake gateway", () => {
  test("records requests to the fake gateway with their operation, parameters and status", async () => {
    const { gateway, client } = start();
    await client.agentJobs.create({ prompt: "Document it" });
    await assert.rejects(client.agentJobs.get("nope"), NotFoundError);
    const names = ["operation", "method", "params", "status"];
    const recorded = gateway.requests.map((request) => names.map((name) => request[name]));
    assert.deepEqual(recorded, [
      ["agentJobs.create", "POST", { prompt: "Document it" }, 201],
      ["agentJobs.get", "GET", { id: "nope" }, 404],
    ]);
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
    const found = [event.type, event.data.id, event.project, event.webhookUrl];
    assert.deepEqual(found, ["agent_job.completed", id, "acme", "https://bot.example/hook"]);
    const forged = body.replace("completed", "failed");
    const unwrapped = unwrap(forged, request.headers, gateway.webhookKey, { now });
    await assert.rejects(unwrapped, WebhookVerificationError);
  });
});
