/** Turnstile, with a server of the test's own in Cloudflare's place. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { ALLOWED_ORIGIN, JOBS, startGate } from "./gate.mjs";

const SECRET = "turnstile-secret-that-is-shown-nowhere";
const HOSTNAME = "docs.example";
const GOOD = { success: true, hostname: HOSTNAME };

let gate;
let verifier;
/** What the verifier was asked, and what it answers, or a function of what it was asked. */
let asked = [];
let answer;

before(async () => {
  verifier = createServer(async (request, response) => {
    const chunks = await request.toArray();
    asked.push(JSON.parse(Buffer.concat(chunks).toString()));
    const { status = 200, body } = typeof answer === "function" ? answer(asked.at(-1)) : answer;
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
  asked = [];
  answer = { body: GOOD };
});

/** Creates a job as a page does, with this response of the widget. */
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

function problemOf(answered) {
  const { type, ...rest } = JSON.parse(answered.body.toString());
  return { status: answered.status, type, ...rest };
}

test("a page without a response is told which widget to show, and nothing is asked or sent", async () => {
  const before_ = await jobsCreated();
  for (const response of [undefined, "", "x".repeat(2049)]) {
    const { status, type, siteKey } = problemOf(await create(response));
    const expected = [403, "/problems/turnstile-required", "0x-site-key"];
    assert.deepEqual([status, type, siteKey], expected);
  }
  assert.deepEqual([asked.length, await jobsCreated()], [0, before_]);
});

test("a page with a good response creates a job", async () => {
  const before_ = await jobsCreated();
  assert.equal((await create("a-good-response")).status, 201);
  assert.equal(await jobsCreated(), before_ + 1);
  assert.equal(asked.length, 1);
  assert.equal(asked[0].secret, SECRET);
  assert.equal(asked[0].response, "a-good-response");
});

test("the repetition of a request under its key is one check, and any other is its own", async () => {
  const key = (text) => ({ headers: [["Idempotency-Key", text]] });
  for (const options of [key("k1"), key("k1"), key("k2"), {}, {}]) await create("again", options);
  const [first, second, ...others] = asked.map(({ idempotency_key: uuid }) => uuid);
  assert.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(second, first);
  assert.equal(new Set([first, ...others]).size, 1 + others.length);
});

describe("one response, for a verifier as Cloudflare's, which takes it again under the same UUID", () => {
  const carol = () => `Bearer ${gate.token({ sub: "carol" })}`;

  beforeEach(() => {
    const taken = new Map();
    answer = ({ response, idempotency_key: uuid }) => {
      const first = taken.get(response) ?? uuid;
      taken.set(response, first);
      const repeated = { success: false, "error-codes": ["timeout-or-duplicate"] };
      return { body: first === uuid ? GOOD : repeated };
    };
  });

  /** Sends the same creation with one response again and again. */
  async function spend(response, requests) {
    const before_ = await jobsCreated();
    const statuses = [];
    for (const options of requests) statuses.push((await create(response, options)).status);
    return { statuses, created: (await jobsCreated()) - before_ };
  }

  test("makes one job, however often the same request is sent", async () => {
    const { statuses, created } = await spend("stolen", Array(6).fill({}));
    assert.deepEqual(statuses, [201, 403, 403, 403, 403, 403]);
    assert.equal(created, 1);
  });

  test("makes one job, however many keys and callers there are", async () => {
    const keyed = (text, more = {}) => ({ headers: [["Idempotency-Key", text]], ...more });
    const { statuses, created } = await spend("shared", [
      keyed("s1"),
      keyed("s2"),
      keyed("s1", { authorization: carol() }),
      keyed("s1", { prompt: "another" }),
      {},
      keyed("s1"),
    ]);
    assert.deepEqual(statuses, [201, 403, 403, 403, 403, 201]);
    assert.equal(created, 1, "the last is a replay");
  });
});

for (const [name, body] of [
  ["that is no person's", { success: false, "error-codes": ["invalid-input-response"] }],
  ["of a page elsewhere", { success: true, hostname: "evil.example" }],
  ["of no page", { success: true }],
  ["whose success is only a word", { success: "true", hostname: HOSTNAME }],
]) {
  test(`a response ${name} is refused, and nothing is sent`, async () => {
    const before_ = await jobsCreated();
    answer = { body };
    const { status, type } = problemOf(await create("bad"));
    assert.deepEqual([status, type], [403, "/problems/turnstile-failed"]);
    assert.equal(await jobsCreated(), before_);
  });
}

test("nothing is sent while responses cannot be checked", async () => {
  const before_ = await jobsCreated();
  answer = { status: 500, body: {} };
  const answered = await create("any");
  const { status, type } = problemOf(answered);
  assert.deepEqual([status, type], [503, "/problems/turnstile-unavailable"]);
  assert.equal(await jobsCreated(), before_);
});

test("a caller that is no browser is not asked, and reading never is", async () => {
  assert.equal((await create(undefined, { origin: null })).status, 201);
  const read = await gate.get(`${JOBS}s`, { headers: [["Origin", ALLOWED_ORIGIN]] });
  assert.equal(read.status, 200);
  assert.equal(asked.length, 0);
});

test("a request that is not valid uses up no response", async () => {
  const answered = await gate.post(
    JOBS,
    { prompt: "" },
    {
      headers: [
        ["Origin", ALLOWED_ORIGIN],
        ["Cf-Turnstile-Response", "kept"],
      ],
    },
  );
  assert.equal(answered.status, 400);
  assert.equal(asked.length, 0);
});

test("the secret and the responses are in nothing that the gateway says", () => {
  const said = gate.gateway.log();
  for (const hidden of [SECRET, "a-good-response"]) assert.ok(!said.includes(hidden));
});
