/**
 * Turnstile. The gateway creates a job for a web page only if the verifier accepts the page's
 * Turnstile response. A local server replaces Cloudflare's verifier.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { ALLOWED_ORIGIN, JOBS, startGate } from "../recorded_gateway.mjs";

const SECRET = "turnstile-secret-that-is-shown-nowhere";
const HOSTNAME = "docs.example";
const GOOD = { success: true, hostname: HOSTNAME };

let gate;
let verifier;
/** The requests that the verifier received. */
let received = [];
/** The verifier's reply: a value, or a function of the request. */
let reply;

before(async () => {
  verifier = createServer(async (request, response) => {
    const chunks = await request.toArray();
    received.push(JSON.parse(Buffer.concat(chunks).toString()));
    const { status = 200, body } = typeof reply === "function" ? reply(received.at(-1)) : reply;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(verifier, "listening");
  gate = await startGate("turnstile", {
    gateway: {
      vars: {
        TURNSTILE_SECRET: SECRET,
        TURNSTILE_SITE_KEY: "0x-site-key",
        TURNSTILE_VERIFY_URL: `http://127.0.0.1:${verifier.address().port}/siteverify`,
      },
    },
  });
});

after(async () => {
  await gate?.stop();
  verifier.close();
});

beforeEach(() => {
  received = [];
  reply = { body: GOOD };
});

/**
 * Requests a job as a page does, with the response of the Turnstile widget. Returns the gateway's
 * response.
 */
function create(response, options = {}) {
  const { prompt = "x", origin = ALLOWED_ORIGIN, headers = [], authorization } = options;
  const fields = [
    ...(origin ? [["Origin", origin]] : []),
    ...(response === undefined ? [] : [["Cf-Turnstile-Response", response]]),
    ...headers,
  ];
  return gate.post(JOBS, { prompt }, { headers: fields, authorization });
}

async function jobsCreated() {
  return (await gate.upstream.counters()).jobsCreated;
}

function problemOf(answer) {
  const { type, ...rest } = JSON.parse(answer.body.toString());
  return { status: answer.status, type, ...rest };
}

test("returns the site key to a page without a Turnstile response, and sends nothing", async () => {
  const earlier = await jobsCreated();
  for (const response of [undefined, "", "x".repeat(2049)]) {
    const { status, type, siteKey } = problemOf(await create(response));
    const expected = [403, "/problems/turnstile-required", "0x-site-key"];
    assert.deepEqual([status, type, siteKey], expected);
  }
  assert.deepEqual([received.length, await jobsCreated()], [0, earlier]);
});

test("creates a job for a page with a valid Turnstile response", async () => {
  const earlier = await jobsCreated();
  assert.equal((await create("a-good-response")).status, 201);
  assert.equal(await jobsCreated(), earlier + 1);
  assert.equal(received.length, 1);
  assert.equal(received[0].secret, SECRET);
  assert.equal(received[0].response, "a-good-response");
});

test("verifies a retry under the same idempotency key with the same UUID, and others apart", async () => {
  const under = (key) => ({ headers: [["Idempotency-Key", key]] });
  for (const options of [under("k1"), under("k1"), under("k2"), {}, {}]) {
    await create("again", options);
  }
  const [first, second, ...others] = received.map(({ idempotency_key: uuid }) => uuid);
  assert.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(second, first);
  assert.equal(new Set([first, ...others]).size, 1 + others.length);
});

describe("a reused Turnstile response, which the verifier accepts again under the same UUID", () => {
  const carol = () => `Bearer ${gate.token({ sub: "carol" })}`;

  beforeEach(() => {
    const seen = new Map();
    reply = ({ response, idempotency_key: uuid }) => {
      const first = seen.get(response) ?? uuid;
      seen.set(response, first);
      const repeated = { success: false, "error-codes": ["timeout-or-duplicate"] };
      return { body: first === uuid ? GOOD : repeated };
    };
  });

  /**
   * Sends create requests with the same Turnstile response, one after another. Returns their
   * statuses and the number of created jobs.
   */
  async function createAll(response, requests) {
    const earlier = await jobsCreated();
    const statuses = [];
    for (const options of requests) statuses.push((await create(response, options)).status);
    return { statuses, created: (await jobsCreated()) - earlier };
  }

  test("creates one job from repeated requests with the same Turnstile response", async () => {
    const { statuses, created } = await createAll("stolen", Array(6).fill({}));
    assert.deepEqual(statuses, [201, 403, 403, 403, 403, 403]);
    assert.equal(created, 1);
  });

  test("creates one job per Turnstile response across several keys and callers", async () => {
    const keyed = (key, more = {}) => ({ headers: [["Idempotency-Key", key]], ...more });
    const { statuses, created } = await createAll("shared", [
      keyed("s1"),
      keyed("s2"),
      keyed("s1", { authorization: carol() }),
      keyed("s1", { prompt: "another" }),
      {},
      keyed("s1"),
    ]);
    assert.deepEqual(statuses, [201, 403, 403, 403, 403, 201]);
    assert.equal(created, 1, "the last response is a replay");
  });
});

for (const [name, body] of [
  ["that fails verification", { success: false, "error-codes": ["invalid-input-response"] }],
  ["of another hostname", { success: true, hostname: "evil.example" }],
  ["without a hostname", { success: true }],
  ["with the string true as success", { success: "true", hostname: HOSTNAME }],
]) {
  test(`rejects a Turnstile response ${name} without a request upstream`, async () => {
    const earlier = await jobsCreated();
    reply = { body };
    const { status, type } = problemOf(await create("bad"));
    assert.deepEqual([status, type], [403, "/problems/turnstile-failed"]);
    assert.equal(await jobsCreated(), earlier);
  });
}

test("sends nothing upstream while the Turnstile verifier fails", async () => {
  const earlier = await jobsCreated();
  reply = { status: 500, body: {} };
  const { status, type } = problemOf(await create("any"));
  assert.deepEqual([status, type], [503, "/problems/turnstile-unavailable"]);
  assert.equal(await jobsCreated(), earlier);
});

test("requires no Turnstile response from clients other than browsers or for reads", async () => {
  assert.equal((await create(undefined, { origin: null })).status, 201);
  const read = await gate.get(`${JOBS}s`, { headers: [["Origin", ALLOWED_ORIGIN]] });
  assert.equal(read.status, 200);
  assert.equal(received.length, 0);
});

test("does not verify the Turnstile response of an invalid request", async () => {
  const answer = await gate.post(
    JOBS,
    { prompt: "" },
    {
      headers: [
        ["Origin", ALLOWED_ORIGIN],
        ["Cf-Turnstile-Response", "unused"],
      ],
    },
  );
  assert.equal(answer.status, 400);
  assert.equal(received.length, 0);
});

test("keeps the Turnstile secret and responses out of the log", () => {
  const log = gate.gateway.log();
  for (const hidden of [SECRET, "a-good-response"]) assert.ok(!log.includes(hidden));
});
