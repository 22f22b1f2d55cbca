/** Observability: log lines, request ids, traces and timings, and secrets kept out of all of them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../../../scripts/versions.mjs";
import { newCanaryKey } from "../../harness/canary.mjs";
import { accessClaims, mintToken, newSecret } from "../../harness/token.mjs";
import { headerOf } from "../../harness/upstream.mjs";
import { assertProblem, JOBS, PROJECT, startGate, VIEWS } from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const prompt = "x";
/** Much longer than a response takes, so that only hanging requests time out. */
const TIMEOUT_SECONDS = 2;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
/** The fields of a log line. Operators' monitoring depends on them. */
const FIELDS = [
  ...["requestId", "traceId", "subject", "route", "project", "status", "problem"],
  ...["upstreamStatus", "upstreamMilliseconds", "cache", "budgetLeft", "milliseconds", "operator"],
];

let gate;

before(async () => {
  gate = await startGate("observability", {
    gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) } },
  });
});
after(() => gate?.stop());
beforeEach(() => gate.upstream.reset());

/** The log lines with this request id. */
function linesOf(id) {
  const lines = gate.gateway.log().split("\n");
  return lines.filter((line) => line.includes(`"requestId":"${id}"`));
}

/** Returns the only log line of a response. A later request's line shows that no second one follows. */
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

/** Asserts the expected fields of a response's log line, besides those that every line has. */
async function assertLogged(answer, expected) {
  const line = await lineOf(answer);
  const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, line[name]]));
  assert.deepEqual(actual, expected);
  return line;
}

const operator = () => {
  const claims = accessClaims({ sub: "olga", scope: "gateway:operate" });
  return { authorization: `Bearer ${gate.known(mintToken(claims, gate.secret))}` };
};
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

  test("logs one line for reading a job, listing jobs and watching a job", async () => {
    const { id } = (await gate.post(JOBS, { prompt })).json;
    await assertLogged(await gate.get(`${JOBS}/${id}`), { ...own, ...withUpstream, route: JOB });
    await assertLogged(await gate.get(LIST), {
      ...own,
      status: 200,
      route: "/v2/agent/{projectId}/jobs",
    });
    await gate.upstream.setJob(id, { status: "completed" });
    const events = await gate.get(`${JOBS}/${id}/events`);
    await assertLogged(events, { ...own, status: 200, route: `${JOB}/events` });
  });

  test("logs one line with the cache status for fetched and cached page views", async () => {
    const route = "/v1/analytics/{projectId}/views";
    const first = await gate.get(VIEWS);
    const line = await assertLogged(first, { ...own, ...withUpstream, route });
    assert.match(line.cache, /^fwd=uri-miss/);
    assert.equal(line.budgetLeft, remaining(first, "analytics"));
    const second = await assertLogged(await gate.get(VIEWS), {
      ...own,
      ...withoutUpstream,
      route,
      status: 200,
    });
    assert.match(second.cache, /^hit/);
  });

  test("logs one line for requests without a project", async () => {
    const none = {
      ...withoutUpstream,
      project: null,
      problem: null,
      cache: null,
      budgetLeft: null,
    };
    for (const [target, options, route, subject] of [
      ["/healthz", anonymous, "/healthz", null],
      ["/healthz?deep", operator(), "/healthz", "olga"],
      ["/openapi.json", anonymous, "/openapi.json", null],
    ]) {
      const answer = await gate.get(target, options);
      await assertLogged(answer, { ...none, route, subject, status: 200 });
    }
  });

  test("logs the problem of a rejected request, and a subject only after authentication", async () => {
    const route = "/v1/analytics/{projectId}/views";
    const rejected = { ...withoutUpstream, project: null, operator: null, route };
    const anonymousCaller = { ...rejected, subject: null };
    const bearer = (token) => ({ authorization: `Bearer ${token}` });
    const origin = [["Origin", "https://evil.example"]];
    for (const [answer, expected] of [
      [
        await gate.get(VIEWS, anonymous),
        { ...anonymousCaller, status: 401, problem: "missing-token" },
      ],
      [
        await gate.get(VIEWS, bearer("x")),
        { ...anonymousCaller, status: 401, problem: "invalid-token" },
      ],
      [
        await gate.get(VIEWS, bearer(gate.token({}, newSecret()))),
        { ...anonymousCaller, status: 401, problem: "invalid-token" },
      ],
      [
        await gate.get(VIEWS, bearer(gate.token({ projects: [] }))),
        { ...rejected, subject: "alice", status: 403, problem: "project-not-allowed" },
      ],
      [
        await gate.get(VIEWS, bearer(gate.token({ scope: "" }))),
        { ...rejected, subject: "alice", status: 403, problem: "insufficient-scope" },
      ],
      [
        await gate.get(`${VIEWS}?limit=0`),
        {
          ...rejected,
          subject: "alice",
          project: PROJECT,
          status: 400,
          problem: "invalid-request",
        },
      ],
      [
        await gate.get(VIEWS, { headers: origin }),
        { ...anonymousCaller, route: null, status: 403, problem: "origin-not-allowed" },
      ],
      [
        await gate.get("/v2/nope", anonymous),
        { ...anonymousCaller, route: null, status: 404, problem: "not-found" },
      ],
      [
        await gate.send({ method: "DELETE", target: VIEWS, ...anonymous }),
        { ...anonymousCaller, route: null, status: 405, problem: "method-not-allowed" },
      ],
      [
        await gate.send({ method: "POST", target: JOBS, body: "{}" }),
        { status: 415, problem: "unsupported-media-type", subject: "alice", ...withoutUpstream },
      ],
      [
        await gate.post(JOBS, { prompt: "" }),
        { status: 400, problem: "invalid-request", subject: "alice", ...withoutUpstream },
      ],
    ]) {
      await assertLogged(answer, expected);
    }
    assert.equal(await gate.received(), 0);
  });

  test("logs a remaining budget of 0 for an exhausted quota", async () => {
    const authorization = `Bearer ${gate.token({ sub: "few", quota: { "create-job": 0 } })}`;
    const answer = await gate.post(JOBS, { prompt }, { authorization });
    assertProblem(answer, 429, "quota-exceeded");
    const expected = { status: 429, problem: "quota-exceeded", budgetLeft: 0, subject: "few" };
    await assertLogged(answer, { ...expected, ...withoutUpstream });
  });

  test("logs an upstream failure with its status, or null after a timeout, and its duration", async () => {
    await gate.upstream.fault({ fault: { kind: "status", status: 500 } });
    const failed = await gate.get(`${JOBS}/j1`);
    await assertLogged(failed, { status: 500, upstreamStatus: 500, problem: "upstream-error" });
    await gate.upstream.fault({ fault: { kind: "hang" }, times: 0 });
    const late = await gate.get(`${JOBS}/j1`);
    const line = await assertLogged(late, {
      ...{ status: 504, upstreamStatus: null, problem: "upstream-timeout" },
    });
    assert.ok(line.upstreamMilliseconds >= 1000 * TIMEOUT_SECONDS);
  });

  test("logs one line for a subject with line breaks and control characters", async () => {
    const sub = 'eve","status":200}\n{"requestId":"forged","status":200} \u001b[2K\r';
    const authorization = `Bearer ${gate.token({ sub, projects: [] })}`;
    const answer = await gate.get(VIEWS, { authorization });
    const line = await assertLogged(answer, { subject: sub, status: 403 });
    assert.equal(line.requestId, answer.header("x-request-id"));
    assert.equal(linesOf("forged").length, 0);
    assert.doesNotMatch(gate.gateway.log(), /^\{"requestId":"forged"/m);
    assert.ok(!gate.gateway.log().includes("\u001b[2K"));
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
    await gate.send({
      ...{
        method: "POST",
        target: JOBS,
        body: `{"${canary("broken body")}`,
        headers: [["Content-Type", "application/json"]],
      },
    });
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
    // The log tells the operator why Mintlify rejected the admin key.
    delete canaries.refusal;
  });

  test("keeps the gateway's own cursors out of the log", async () => {
    for (let created = 0; created < 2; created += 1) await gate.post(JOBS, { prompt });
    const { nextCursor } = (await gate.get(`${LIST}?limit=1`)).json;
    assert.ok(nextCursor);
    const answer = await gate.get(`${LIST}?limit=1&cursor=${encodeURIComponent(nextCursor)}`);
    assert.equal(answer.status, 200);
    await lineOf(answer);
    assert.ok(!gate.gateway.log().includes(nextCursor));
  });

  test("keeps canaries from requests and upstream responses out of the log", async () => {
    await lineOf(await gate.get("/healthz", anonymous));
    const log = gate.gateway.log();
    assert.ok(log.split("\n").length > 40 && Object.keys(canaries).length > 30);
    const found = Object.entries(canaries).filter(([, value]) => log.includes(value));
    assert.deepEqual(found, []);
  });
});

describe("X-Request-Id", () => {
  const send = (id) => gate.get(VIEWS, { authorization: null, headers: [["X-Request-Id", id]] });

  for (const id of ["a", "of-the-caller_1=", "7f9c2ba4e88f827d", "A".repeat(255)]) {
    test(`reuses the caller's X-Request-Id ${id.slice(0, 20)}`, async () => {
      const answer = await send(id);
      assert.equal(answer.header("x-request-id"), id);
      assert.equal(answer.json.instance, id);
      assert.equal((await gate.logged(id)).status, 401);
    });
  }

  for (const [what, id] of [
    ["empty", ""],
    ["256 characters long", "A".repeat(256)],
    ["two words", "a b"],
    ["a path", "../a"],
    ["half a quotation", 'a"b'],
    ["markup", "<script>"],
    ["a list", "a,b"],
    ["a dotted name", "a.b"],
    ["not ASCII", "é"],
    ["an encoded line break", "a%0d%0ab"],
    ["a JNDI lookup", ["$", "{jndi:ldap://evil.example}"].join("")],
  ]) {
    test(`replaces an X-Request-Id that is ${what}`, async () => {
      const answer = await send(id);
      assertProblem(answer, 401, "missing-token");
      assert.match(answer.header("x-request-id"), UUID);
      if (id.length > 3) assert.ok(!gate.gateway.log().includes(id));
    });
  }

  test("replaces two X-Request-Id fields with its own id", async () => {
    const headers = [
      ["X-Request-Id", "one"],
      ["X-Request-Id", "two"],
    ];
    const answer = await gate.get(VIEWS, { authorization: null, headers });
    assert.match(answer.header("x-request-id"), UUID);
  });

  test("generates a different X-Request-Id for each request", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gate.get("/healthz", anonymous)),
    );
    const ids = new Set(answers.map((answer) => answer.header("x-request-id")));
    assert.equal(ids.size, 20);
  });
});

describe("trace context", () => {
  let range = 0;
  /** One request for each upstream operation. */
  const OPERATIONS = {
    "a job": (headers) => gate.get(`${JOBS}/j1`, { headers }),
    "page views": (headers) => {
      range += 1;
      return gate.get(`${VIEWS}?dateTo=2024-03-${String(range).padStart(2, "0")}`, { headers });
    },
    "a creation": (headers) => gate.post(JOBS, { prompt }, { headers }),
    "a follow-up": (headers) => gate.post(`${JOBS}/j1/message`, { prompt }, { headers }),
  };

  /** Sends a request and returns the parts of the `traceparent` that the upstream has received. */
  async function traced(operation, ...headers) {
    await gate.upstream.reset();
    const answer = await OPERATIONS[operation](headers);
    const [request] = await gate.upstream.requests();
    const parent = headerOf(request, "traceparent");
    const [, version, trace, span, flags] = /^(..)-(.{32})-(.{16})-(..)$/.exec(parent);
    assert.equal(version, "00");
    assert.match(trace, /^(?!0{32})[0-9a-f]{32}$/);
    assert.match(span, /^(?!0{16})[0-9a-f]{16}$/);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.equal(line.traceId, trace, "the log and the upstream have the same trace id");
    return { trace, span, flags };
  }

  for (const operation of Object.keys(OPERATIONS)) {
    test(`continues the caller's trace upstream with a new span: ${operation}`, async () => {
      for (const flags of ["00", "01"]) {
        const sent = await traced(operation, ["Traceparent", `00-${TRACE}-${SPAN}-${flags}`]);
        assert.deepEqual([sent.trace, sent.flags], [TRACE, flags]);
        assert.notEqual(sent.span, SPAN);
      }
    });

    test(`starts a new trace when the request has none: ${operation}`, async () => {
      const [first, second] = [await traced(operation), await traced(operation)];
      assert.notEqual(first.trace, second.trace);
      assert.notEqual(first.span, second.span);
      assert.equal(first.flags, "00");
    });
  }

  for (const operation of Object.keys(OPERATIONS)) {
    test(`forwards tracestate, truncated to whole members: ${operation}`, async () => {
      const parent = ["Traceparent", `00-${TRACE}-${SPAN}-01`];
      const stateOf = async (...headers) => {
        await traced(operation, ...headers);
        const [request] = await gate.upstream.requests();
        return headerOf(request, "tracestate");
      };
      const state = (value) => ["Tracestate", value];
      assert.equal(await stateOf(parent, state("rojo=00f0, congo=t61")), "rojo=00f0,congo=t61");
      assert.equal(await stateOf(parent, state("rojo=1"), state("congo=2")), "rojo=1,congo=2");
      const members = Array.from({ length: 8 }, (_, index) => `k${index}=${"x".repeat(100)}`);
      assert.equal(await stateOf(parent, state(members.join())), members.slice(0, 4).join());
      assert.equal(await stateOf(parent, state("no list")), undefined);
      assert.equal(await stateOf(parent), undefined);
      assert.equal(await stateOf(state("rojo=1")), undefined, "a new trace has no state");
    });
  }

  test("keeps the traces of 48 concurrent requests apart", async () => {
    await gate.upstream.reset();
    const sent = Array.from({ length: 48 }, (_, index) => {
      const trace = (index + 1).toString(16).padStart(32, "0");
      return { trace, state: index % 3 === 0 ? `rojo=${index}` : undefined };
    });
    const operations = ["a job", "a creation", "a follow-up"].map((name) => OPERATIONS[name]);
    const answers = sent.map(({ trace, state }, index) => {
      const parent = ["Traceparent", `00-${trace}-${SPAN}-01`];
      const send = operations[index % operations.length];
      return send(state ? [parent, ["Tracestate", state]] : [parent]);
    });
    await Promise.all(answers);
    const received = (await gate.upstream.requests()).map((request) => ({
      trace: headerOf(request, "traceparent").split("-")[1],
      state: headerOf(request, "tracestate"),
    }));
    assert.deepEqual(
      received.sort((one, other) => one.trace.localeCompare(other.trace)),
      sent,
    );
  });

  test("generates a different span for each request of a trace", async () => {
    const field = ["Traceparent", `00-${TRACE}-${SPAN}-01`];
    const spans = [await traced("a job", field), await traced("a job", field)];
    assert.notEqual(spans[0].span, spans[1].span);
  });

  for (const [what, value] of [
    ["empty", ""],
    ["a zero trace id", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a zero parent id", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["of the forbidden version ff", `ff-${TRACE}-${SPAN}-01`],
    ["in upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["too short", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["too long", `00-${TRACE}-${SPAN}-01-more`],
    ["without flags", `00-${TRACE}-${SPAN}`],
    ["not hexadecimal", `00-${TRACE.replace("4", "g")}-${SPAN}-01`],
    ["a list of two", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["the value of another field", "Bearer x"],
  ]) {
    test(`starts a new trace when traceparent is ${what}`, async () => {
      const sent = await traced("a job", ["Traceparent", value]);
      assert.notEqual(sent.trace, TRACE);
      assert.equal(sent.flags, "00");
    });
  }

  test("continues a trace from a traceparent of a future version", async () => {
    const sent = await traced("a job", ["Traceparent", `01-${TRACE}-${SPAN}-01-more`]);
    assert.equal(sent.trace, TRACE);
  });

  test("logs the trace id of a rejected request", async () => {
    const headers = [["Traceparent", `00-${TRACE}-${SPAN}-01`]];
    const answer = await gate.get(VIEWS, { authorization: null, headers });
    assert.equal((await lineOf(answer)).traceId, TRACE);
  });
});

describe("Server-Timing", () => {
  const DURATION = /^upstream;dur=(\d+)$/;

  test("returns the upstream's share of the time in Server-Timing", async () => {
    const created = await gate.post(JOBS, { prompt });
    for (const answer of [
      created,
      await gate.get(`${JOBS}/${created.json.id}`),
      await gate.get(`${JOBS}/none`),
      await gate.get(`${VIEWS}?dateTo=2024-05-01`),
    ]) {
      const [, milliseconds] = DURATION.exec(answer.header("server-timing"));
      const line = await gate.logged(answer.header("x-request-id"));
      assert.equal(line.upstreamMilliseconds, Number(milliseconds));
    }
  });

  test("includes an upstream delay in Server-Timing", async () => {
    await gate.upstream.fault({ fault: { kind: "delay", ms: 300 } });
    const answer = await gate.get(`${JOBS}/none`);
    assert.ok(Number(DURATION.exec(answer.header("server-timing"))[1]) >= 300);
  });

  test("returns Server-Timing when the upstream did not respond", async () => {
    await gate.upstream.fault({ fault: { kind: "hang" } });
    const answer = await gate.get(`${JOBS}/none`);
    assert.ok(Number(DURATION.exec(answer.header("server-timing"))[1]) >= 1000 * TIMEOUT_SECONDS);
  });

  test("omits Server-Timing when no request went upstream", async () => {
    const cached = `${VIEWS}?dateTo=2024-05-01`;
    assert.equal((await gate.get(cached)).status, 200);
    for (const answer of [
      await gate.get(cached),
      await gate.get(VIEWS, anonymous),
      await gate.get(`${VIEWS}?limit=0`),
      await gate.get("/healthz", anonymous),
      await gate.get("/openapi.json", anonymous),
      await gate.get("/healthz?deep", operator()),
    ]) {
      assert.equal(answer.header("server-timing"), undefined, answer.text.slice(0, 80));
    }
  });
});

describe("the deployed bundle", () => {
  const SECRETS = { ADMIN_API_KEY: newCanaryKey(), ACCESS_TOKEN_SECRET: newSecret() };
  let folder;
  let output;
  /** The form that wrangler would upload, and its parts by name. */
  let upload;
  let parts;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "quillgate-deploy-"));
    const file = join(folder, "upload");
    const config = join(ROOT, "worker", "wrangler.toml");
    const args = ["deploy", "--dry-run", "--config", config, "--outfile", file];
    const env = { ...environment(folder), ...SECRETS };
    const wrangler = join(ROOT, "node_modules", ".bin", "wrangler");
    const { stdout, stderr } = await promisify(execFile)(
      wrangler,
      [...args, "--outdir", join(folder, "out")],
      { env, timeout: 60_000 },
    );
    output = stdout + stderr;
    upload = readFileSync(file, "latin1");
    parts = partsOf(upload);
  });
  after(() => folder && rmSync(folder, { recursive: true, force: true }));

  test("passes wrangler's dry run with all Durable Objects and the page", () => {
    assert.match(output, /--dry-run: exiting now/);
    assert.doesNotMatch(output, /warning|deprecated/i);
    const { main_module, bindings, observability } = JSON.parse(parts.metadata);
    assert.deepEqual([main_module, observability.enabled], ["index.js", true]);
    const types = Object.fromEntries(bindings.map(({ name, type }) => [name, type]));
    assert.equal(types.PROJECT_GATE, "durable_object_namespace");
    assert.equal(types.ORG_GATE, "durable_object_namespace");
    assert.equal(types.SESSION, "durable_object_namespace");
    assert.equal(types.ASSETS, "assets");
  });

  test("deploys the Worker's script and modules without source maps", () => {
    const modules = Object.keys(parts).filter((name) => name !== "metadata");
    assert.equal(modules.length, 3, modules.join());
    assert.match(modules[0], /^index\.js$/);
    assert.match(modules[1], /gateway_bg\.wasm$/);
    assert.match(modules[2], /openapi\.txt$/);
    assert.doesNotMatch(upload, /"sourcesContent"|"mappings":/);
  });

  test("keeps secrets and local paths out of the deployed bundle", () => {
    for (const [name, secret] of Object.entries(SECRETS)) {
      assert.ok(!upload.includes(secret) && !output.includes(secret), name);
    }
    const { bindings } = JSON.parse(parts.metadata);
    const variables = bindings.filter(({ text }) => text !== undefined).map(({ name }) => name);
    assert.deepEqual(variables.sort(), ["ALLOWED_ORIGINS", "UPSTREAM_BASE_URL"]);
    assert.doesNotMatch(upload, /mint_[a-z0-9]{10}|whsec_[A-Za-z0-9+/]{20}|-----BEGIN [A-Z ]*KEY/);
    assert.ok(!upload.includes(ROOT), ROOT);
    assert.ok(!upload.includes(`${homedir()}/`), homedir());
  });

  test("deploys the page without source maps or settings files", () => {
    const names = readdirSync(join(ROOT, "www", "dist"), { recursive: true }).map(String);
    assert.ok(names.includes("index.html"));
    const unwanted = names.filter((name) => /\.map$|(^|\/)\.|\.env|\.dev\.vars/.test(name));
    assert.deepEqual(unwanted, []);
  });

  /** Splits wrangler's form (RFC 7578) into parts by name. */
  function partsOf(form) {
    const boundary = form.slice(0, form.indexOf("\r\n"));
    const entries = form.split(boundary).slice(1, -1);
    return Object.fromEntries(
      entries.map((entry) => {
        const at = entry.indexOf("\r\n\r\n");
        const [, name] = /; name="([^"]*)"/.exec(entry.slice(0, at));
        return [name, entry.slice(at + 4, -2)];
      }),
    );
  }

  /** The environment without the user's own credentials and settings. */
  function environment(home) {
    const { CLOUDFLARE_ENV: _environment, CLOUDFLARE_API_TOKEN: _token, ...rest } = process.env;
    return {
      ...rest,
      ...{ CI: "true", FORCE_COLOR: "0", HOME: home, XDG_CONFIG_HOME: home },
      ...{ WRANGLER_LOG_PATH: join(home, "logs"), WRANGLER_CACHE_DIR: join(home, "cache") },
      ...{ WRANGLER_SEND_METRICS: "false", WRANGLER_SEND_ERROR_REPORTS: "false" },
      WRANGLER_HIDE_BANNER: "true",
    };
  }
});

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
