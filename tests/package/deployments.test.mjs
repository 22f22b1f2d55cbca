/** Deployments, previews and automations: their requests, retries, watches, and `isLive`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { Client } from "quillgate";
import { isLive } from "quillgate/values";
import { ROOT } from "../../scripts/versions.mjs";
import { collect } from "./scripted_lists.mjs";
import { startScriptedServer } from "./scripted_server.mjs";
import { event } from "./streaming_server.mjs";

const RECORDS = "/v1/project/acme/deployments";
const STATUS = "/v1/project/update-status/s1";
const table = readFileSync(join(ROOT, "tests", "core", "live_deployments.json"), "utf8");

let server;
let respond;
let client;

before(async () => {
  server = await startScriptedServer((received, number) => respond(received, number));
});
after(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
  respond = ({ path }) => ({ status: 404, json: { error: `nothing at ${path}` } });
  client = connect();
});

function connect(options = {}) {
  const auth = { token: "deployment-test-token" };
  return new Client({ baseUrl: server.url, projectId: "acme", auth, logLevel: "off", ...options });
}

function stream(...events) {
  const text = events.map(([name, data], at) => event(at + 1, name, data)).join("");
  return { headers: { "content-type": "text/event-stream" }, text: `retry: 1\n\n${text}` };
}

/** Responds with a status, and to all other requests with 404. */
function respondWithStatus(nextStatus) {
  respond = ({ path }) =>
    path === STATUS ? { json: { _id: "s1", status: nextStatus() } } : { status: 404, json: {} };
}

test("a deployment is started without a body, and once for all attempts", async () => {
  respond = (_, number) =>
    number === 0 ? { status: 503, json: {} } : { status: 202, json: { statusId: "s1" } };
  const retries = [];
  const observed = connect({ onRetry: ({ operation }) => retries.push(operation) });
  assert.deepEqual(await observed.deployments.create(), { statusId: "s1" });
  assert.deepEqual(retries, ["deployments.create"]);
  const [first, second] = server.requests;
  assert.deepEqual([first.method, first.path], ["POST", "/v1/project/update/acme"]);
  assert.equal(first.body, "");
  assert.equal(first.headers["content-type"], undefined);
  assert.match(first.headers["idempotency-key"], /^[0-9a-f]{32}$/);
  assert.equal(second.headers["idempotency-key"], first.headers["idempotency-key"]);
});

test("neither a deployment, a preview nor an automation is started twice at Mintlify", async () => {
  respond = () => ({ status: 503, json: {} });
  const direct = connect({ auth: { adminKey: "mint_0123456789" } });
  for (const start of [
    () => direct.deployments.create(),
    () => direct.previews.create({ branch: "b" }),
    () => direct.automations.run("w1"),
  ]) {
    server.requests.length = 0;
    await assert.rejects(start(), { status: 503 });
    assert.equal(server.requests.length, 1);
    assert.equal(server.requests[0].headers["idempotency-key"], undefined);
  }
});

test("an automation is run with a forced key, or refused without an id", async () => {
  respond = () => ({ status: 202, json: { instanceId: "i1" } });
  const options = { idempotencyKey: "release-42", force: true };
  const run = await client.automations.run("w/1", options);
  assert.deepEqual(run, { schemaId: null, instanceId: "i1", jobId: null });
  const [{ method, path, headers, body }] = server.requests;
  assert.deepEqual([method, path, body], ["POST", "/v1/workflow/acme/w%2F1/trigger", ""]);
  assert.equal(headers["idempotency-key"], "release-42");
  assert.equal(headers["idempotency-retry"], "force");
  await assert.rejects(client.automations.run(""), { field: "workflowSchemaId" });
});

test("wait reads the event stream of the record until the deployment ends", async () => {
  respond = () =>
    stream(
      ["deployment", { _id: "s1", status: "queued" }],
      ["deployment", { _id: "s1", status: "verifying" }],
      ["ping", {}],
      ["deployment", { _id: "s1", status: "failure", logs: ["Failed to build"] }],
    );
  const updates = [];
  const onUpdate = ({ status }) => updates.push(status);
  const ended = await client.deployments.wait("s1", { onUpdate });
  assert.deepEqual([ended.status, ended.logs], ["failure", ["Failed to build"]]);
  // A status that the package does not know is not final.
  assert.deepEqual(updates, ["queued", "verifying", "failure"]);
  const [{ method, path, headers }] = server.requests;
  assert.deepEqual([method, path], ["GET", `${RECORDS}/s1/events`]);
  assert.equal(headers.accept, "text/event-stream");
  assert.equal(server.requests.length, 1);
});

test("without a stream, watch polls the status and yields each change once", async () => {
  const states = ["in_progress", "success"];
  respondWithStatus(() => (states.length > 1 ? states.shift() : states[0]));
  const changes = await collect(client.deployments.watch("s1"));
  const reported = changes.map(({ deployment, done }) => [deployment.status, done]);
  assert.deepEqual(reported, [
    ["in_progress", false],
    ["success", true],
  ]);
  const paths = server.requests.map(({ path }) => path);
  assert.deepEqual(paths, [`${RECORDS}/s1/events`, STATUS, STATUS]);
});

test("a wait that times out has the last known state", async () => {
  respondWithStatus(() => "in_progress");
  await assert.rejects(client.deployments.wait("s1", { timeout: 50 }), (error) => {
    assert.equal(error.name, "DeploymentWaitTimeoutError");
    assert.equal(error.message, "the deployment did not end within 50 ms");
    assert.deepEqual([error.timeout, error.deployment.status], [50, "in_progress"]);
    return true;
  });
});

test("watchAll yields deployments, deleted records and resets after a revision", async () => {
  respond = () =>
    stream(
      ["deployment", { statusId: "s1", status: "queued" }],
      ["job", { id: "j1" }],
      ["deleted", { id: "s0" }],
      ["reset", {}],
    );
  const seen = [];
  for await (const change of client.deployments.watchAll({ after: 7 })) {
    seen.push(change);
    if (seen.length === 3) break;
  }
  assert.equal(seen[0].deployment.status, "queued");
  assert.deepEqual(seen.slice(1), [{ deleted: "s0" }, { reset: true }]);
  const [{ path, headers }] = server.requests;
  assert.deepEqual([path, headers["last-event-id"]], [`${RECORDS}/events`, "7"]);
});

/** The core's tests share the table: see `tests/core/deployment.rs`. */
test("isLive gives the same answers as the core", () => {
  const rows = JSON.parse(table);
  for (const { why, isLive: expected, deployment } of rows) {
    const { status = null, summary = null, logs = null } = deployment;
    assert.equal(isLive({ status, summary, logs }), expected, why);
  }
  assert.ok(rows.length >= 15);
});
