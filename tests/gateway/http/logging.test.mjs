/** Log lines. The gateway logs each request as one line with fixed fields. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, test } from "node:test";
import { newSecret } from "../../harness/token.mjs";
import { assertProblem, JOBS, PROJECT, useGate, VIEWS } from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const prompt = "x";
/** Much longer than a response takes, so that only hanging requests time out. */
const TIMEOUT_SECONDS = 3;
/** The fields of a log line. Operators' monitoring depends on these fields. */
const FIELDS = [
  ...["requestId", "traceId", "subject", "route", "project", "status", "problem"],
  ...["upstreamStatus", "upstreamMilliseconds", "cache", "budgetLeft", "milliseconds", "operator"],
];

const gate = useGate("observability", {
  gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) } },
});
beforeEach(() => gate.upstream.reset());

function linesOf(id) {
  const lines = gate.gateway.log().split("\n");
  return lines.filter((line) => line.includes(`"requestId":"${id}"`));
}

/** Returns the only log line of a response. A second one would precede that of a later request. */
async function lineOf(answer) {
  const id = answer.header("x-request-id");
  const line = await gate.logged(id);
  const later = await gate.get("/healthz", { authorization: null });
  await gate.logged(later.header("x-request-id"));
  assert.equal(linesOf(id).length, 1, `log lines with the id ${id}`);
  assert.deepEqual(Object.keys(line).sort(), [...FIELDS].sort());
  assert.ok(Number.isInteger(line.milliseconds) && line.milliseconds >= 0);
  assert.match(line.traceId, /^[0-9a-f]{32}$/);
  return line;
}

async function assertLogged(answer, expected) {
  const line = await lineOf(answer);
  const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, line[name]]));
  assert.deepEqual(actual, expected);
  return line;
}
const anonymous = { authorization: null };

describe("the log line of a request", () => {
  const JOB = "/v2/agent/{projectId}/job/{id}";
  const own = { subject: "alice", project: PROJECT, problem: null, operator: null };
  const withUpstream = { upstreamStatus: 200, status: 200 };
  const withoutUpstream = { upstreamStatus: null, upstreamMilliseconds: null };

  test("logs one line with the remaining budget for a creation and a follow-up", async () => {
    const created = await gate.post(JOBS, { prompt });
    const route = "/v2/agent/{projectId}/job";
    const line = await assertLogged(created, { ...own, route, status: 201, upstreamStatus: 201 });
    assert.ok(Number.isInteger(line.upstreamMilliseconds));
    assert.ok(line.upstreamMilliseconds <= line.milliseconds);
    assert.equal(line.budgetLeft, remaining(created, "create-job"));

    const message = await gate.post(`${JOBS}/${created.json.id}/message`, { prompt });
    const after = await assertLogged(message, { ...own, ...withUpstream, route: `${JOB}/message` });
    assert.equal(after.budgetLeft, remaining(message, "send-message"));
  });

  test("logs the problem of a rejected request, and a subject only after authentication", async () => {
    const route = "/v1/analytics/{projectId}/views";
    const rejected = { ...withoutUpstream, project: null, operator: null, route };
    const origin = [["Origin", "https://evil.example"]];
    const anonymousCaller = { ...rejected, subject: null };
    const alice = { ...rejected, subject: "alice" };
    const withoutRoute = { ...anonymousCaller, route: null };
    const atWrite = { ...withoutUpstream, subject: "alice" };
    const forged = `Bearer ${gate.token({}, newSecret())}`;
    for (const [answer, status, problem, expected] of [
      [await gate.get(VIEWS, anonymous), 401, "missing-token", anonymousCaller],
      [await gate.get(VIEWS, { authorization: "Bearer x" }), 401, "invalid-token", anonymousCaller],
      [await gate.get(VIEWS, { authorization: forged }), 401, "invalid-token", anonymousCaller],
      [await gate.get(VIEWS, { claims: { projects: [] } }), 403, "project-not-allowed", alice],
      [await gate.get(VIEWS, { claims: { scope: "" } }), 403, "insufficient-scope", alice],
      [await gate.get(`${VIEWS}?limit=0`), 400, "invalid-request", { ...alice, project: PROJECT }],
      [await gate.get(VIEWS, { headers: origin }), 403, "origin-not-allowed", withoutRoute],
      [await gate.get("/v2/nope", anonymous), 404, "not-found", withoutRoute],
      [
        await gate.send({ method: "DELETE", target: VIEWS, ...anonymous }),
        ...[405, "method-not-allowed", withoutRoute],
      ],
      [
        await gate.send({ method: "POST", target: JOBS, body: "{}" }),
        ...[415, "unsupported-media-type", atWrite],
      ],
      [await gate.post(JOBS, { prompt: "" }), 400, "invalid-request", atWrite],
    ]) {
      await assertLogged(answer, { ...expected, status, problem });
    }
    assert.equal(await gate.received(), 0);
  });

  test("logs an upstream failure with its status, or null after a timeout, and its duration", async () => {
    await gate.upstream.fault({ fault: { kind: "status", status: 500 } });
    const failed = await gate.get(`${JOBS}/j1`);
    await assertLogged(failed, { status: 500, upstreamStatus: 500, problem: "upstream-error" });
    await gate.upstream.fault({ fault: { kind: "hang" }, times: 0 });
    const late = await gate.get(`${JOBS}/j1`);
    const timedOut = { status: 504, upstreamStatus: null, problem: "upstream-timeout" };
    const line = await assertLogged(late, timedOut);
    assert.ok(line.upstreamMilliseconds >= 1000 * TIMEOUT_SECONDS);
  });

  function remaining(answer, policy) {
    return Number(new RegExp(`"${policy}";r=(\\d+)`).exec(answer.header("ratelimit"))[1]);
  }
});

describe("canaries in requests and upstream responses", () => {
  const canaries = {};
  const canary = (name) => {
    canaries[name] ??= `canary-${randomBytes(8).toString("hex")}`;
    return canaries[name];
  };

  test("responds to requests with canaries in every part that a caller controls", async () => {
    const fields = [
      ["User-Agent", canary("user agent")],
      ["Cookie", `session=${canary("cookie")}`],
      ["Referer", `https://docs.example/${canary("referrer")}`],
      ["X-Forwarded-For", canary("forwarded for")],
      ["X-Custom", canary("another field")],
      ["Cf-Access-Jwt-Assertion", canary("assertion")],
      ["Proxy-Authorization", `Basic ${canary("proxy's credential")}`],
      ["If-None-Match", `"${canary("entity tag")}"`],
      ["Traceparent", `00-${canary("trace")}-x-01`],
      ["Tracestate", `vendor=${canary("trace state")}`],
      ["X-Request-Id", `${canary("request id")} with a space`],
    ];
    const write = (key) => [...fields, ["Idempotency-Key", canary(key)]];
    const sent = { prompt: `${canary("prompt")}\n${canary("prompt's second line")}` };
    const { id } = (await gate.post(JOBS, sent, { headers: write("idempotency key") })).json;
    await gate.post(JOBS, sent, { headers: write("idempotency key") });
    await gate.post(JOBS, { prompt: "other" }, { headers: write("idempotency key") });
    await gate.post(`${JOBS}/${id}/message`, sent, { headers: write("follow-up's key") });
    const url = `https://hooks.example/${canary("webhook")}?secret=${canary("webhook's query")}`;
    await gate.post(JOBS, sent, { headers: [["Webhook-Url", url]] });
    await gate.post(JOBS, { prompt: 5, [canary("property")]: canary("value") });
    const body = `{"${canary("broken body")}`;
    const type = [["Content-Type", "application/json"]];
    await gate.send({ method: "POST", target: JOBS, body, headers: type });
    for (const target of [
      VIEWS,
      LIST,
      `${VIEWS}?dateFrom=${canary("date")}`,
      `${VIEWS}?${canary("parameter")}=1`,
      `${VIEWS}?access_token=${canary("token in the query")}`,
      `${LIST}?cursor=${canary("cursor")}`,
      `${JOBS}/${canary("job")}`,
      `${JOBS}/${canary("watched job")}/events`,
      `/v1/analytics/${canary("project")}/views`,
      `/v1/${canary("path")}`,
      `/healthz?${canary("health's query")}=1&deep`,
      `/openapi.json?${canary("description's query")}`,
    ]) {
      await gate.get(target, { headers: fields });
      await gate.get(target, { authorization: `Bearer ${canary("token")}`, headers: fields });
      await gate.get(target, { authorization: canary("scheme"), headers: fields });
    }
    const headers = [["Origin", `https://${canary("origin")}.example`]];
    assertProblem(await gate.get(VIEWS, { headers }), 403, "origin-not-allowed");
  });

  test("responds when upstream responses have canaries in their bodies", async () => {
    for (const [status, name] of [
      [400, "error"],
      [401, "refusal"],
      [500, "failure"],
    ]) {
      const body = { error: `upstream ${canary(name)}` };
      await gate.upstream.fault({ fault: { kind: "json", status, body } });
      await gate.get(`${JOBS}/j1`);
    }
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: [canary("data")] } });
    await gate.get(`${VIEWS}?dateFrom=2024-01-01`);
    // The log may contain Mintlify's reason for rejecting the admin key, so no test searches for
    // this canary.
    delete canaries.refusal;
  });

  test("keeps canaries from requests and upstream responses out of the log", async () => {
    await lineOf(await gate.get("/healthz", anonymous));
    const log = gate.gateway.log();
    assert.ok(log.split("\n").length > 40 && Object.keys(canaries).length > 30);
    const found = Object.entries(canaries).filter(([, value]) => log.includes(value));
    assert.deepEqual(found, []);
  });
});
