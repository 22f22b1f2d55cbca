/** Which pages may call, and what their browser is told. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ALLOWED_ORIGIN, assertProblem, JOBS, startGate, VIEWS } from "./gate.mjs";

let gate;

before(async () => {
  gate = await startGate("cors");
});
after(() => gate?.stop());

const from = (origin, options = {}) => ({
  ...options,
  headers: [["Origin", origin], ...(options.headers ?? [])],
});

/** The `access-control-` fields of an answer. */
function cors(answer) {
  const fields = answer.headers.filter(([name]) => name.startsWith("access-control-"));
  return Object.fromEntries(fields);
}

describe("before anything goes upstream", () => {
  for (const origin of [
    "https://evil.example",
    "null",
    "*",
    `${ALLOWED_ORIGIN}/`,
    `${ALLOWED_ORIGIN}:443`,
    `${ALLOWED_ORIGIN}:8443`,
    `${ALLOWED_ORIGIN}.evil.example`,
    "https://evil-docs.example",
    "https://a.docs.example",
    "https://docs.exampl",
    "https://docsXexample",
    "https://DOCS.example",
    "HTTPS://docs.example",
    "http://docs.example",
    "docs.example",
    `${ALLOWED_ORIGIN}, https://evil.example`,
    `${ALLOWED_ORIGIN} https://evil.example`,
    "http://localhost",
    "http://localhost:51730",
    "file://",
  ]) {
    test(`the origin "${origin}" is refused and told nothing`, async () => {
      for (const answer of [
        await gate.get(VIEWS, from(origin)),
        await gate.post(JOBS, { prompt: "x" }, from(origin)),
        await preflight(origin, "POST"),
      ]) {
        assertProblem(answer, 403, "origin-not-allowed");
        assert.deepEqual(cors(answer), {});
      }
    });
  }

  test("two origins are refused, even when each is allowed", async () => {
    const headers = [
      ["Origin", ALLOWED_ORIGIN],
      ["Origin", "http://localhost:5173"],
    ];
    assertProblem(await gate.get(VIEWS, { headers }), 403, "origin-not-allowed");
  });

  test("the own origin under another name is refused", async () => {
    for (const origin of [`https://${gate.host}`, "http://127.0.0.1", `http://${gate.host}/`]) {
      assertProblem(await gate.get(VIEWS, from(origin)), 403, "origin-not-allowed");
    }
    const headers = [["X-Forwarded-Host", "evil.example"]];
    const answer = await gate.get(VIEWS, from("https://evil.example", { headers }));
    assertProblem(answer, 403, "origin-not-allowed");
  });

  test("a preflight is answered without a token", async () => {
    const answer = await preflight(ALLOWED_ORIGIN, "POST");
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.equal(answer.header("vary"), "Origin");
    assert.deepEqual(cors(answer), {
      "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
      "access-control-allow-methods": "POST",
      "access-control-allow-origin": ALLOWED_ORIGIN,
      "access-control-expose-headers":
        "Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, X-Request-Id",
      "access-control-max-age": "7200",
    });
  });

  test("a preflight names the path's methods, whichever it asks for", async () => {
    const answer = await preflight(ALLOWED_ORIGIN, "DELETE", VIEWS);
    assert.equal(cors(answer)["access-control-allow-methods"], "GET");
  });

  test("a preflight for no route is not found", async () => {
    const answer = await preflight(ALLOWED_ORIGIN, "GET", "/v2/nowhere");
    assertProblem(answer, 404, "not-found");
    assert.equal(cors(answer)["access-control-allow-origin"], ALLOWED_ORIGIN);
  });

  test("a refusal can be read by an allowed page", async () => {
    for (const [answer, status] of [
      [await gate.get(VIEWS, from(ALLOWED_ORIGIN, { authorization: null })), 401],
      [await gate.get(`${VIEWS}?limit=0`, from(ALLOWED_ORIGIN)), 400],
      [await gate.get("/v2/nowhere", from(ALLOWED_ORIGIN)), 404],
      [await gate.get(JOBS, from(ALLOWED_ORIGIN)), 405],
    ]) {
      assert.equal(answer.status, status);
      assert.equal(cors(answer)["access-control-allow-origin"], ALLOWED_ORIGIN);
      assert.match(cors(answer)["access-control-expose-headers"], /\bX-Request-Id\b/);
      assert.equal(answer.header("vary"), "Origin");
    }
  });

  test("nothing of all this has reached the upstream", async () => {
    assert.equal(await gate.received(), 0);
  });
});

test("an allowed origin gets the answer and its own name", async () => {
  for (const origin of [ALLOWED_ORIGIN, "http://localhost:5173"]) {
    for (const answer of [
      await gate.get(VIEWS, from(origin)),
      await gate.post(JOBS, { prompt: "x" }, from(origin)),
    ]) {
      assert.ok([200, 201].includes(answer.status), answer.text);
      assert.equal(answer.header("vary"), "Origin");
      assert.deepEqual(cors(answer), {
        "access-control-allow-origin": origin,
        "access-control-expose-headers":
          "Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, X-Request-Id",
      });
    }
  }
});

test("the own origin gets the answer, and needs to be told nothing", async () => {
  for (const options of [from(gate.gateway.url), {}]) {
    const answer = await gate.get(VIEWS, options);
    assert.equal(answer.status, 200);
    assert.equal(answer.header("vary"), "Origin");
    assert.deepEqual(cors(answer), {});
  }
});

test("what an upstream allows is not passed on", async () => {
  const body = '{"totals":{},"views":[],"hasMore":false}';
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-allow-credentials": "true",
    vary: "Cookie",
  };
  await gate.upstream.fault({ fault: { kind: "status", status: 200, body, headers } });
  const answer = await gate.get(VIEWS);
  assert.deepEqual([answer.status, cors(answer), answer.header("vary")], [200, {}, "Origin"]);
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());

function preflight(origin, method, target = JOBS) {
  const headers = [["Access-Control-Request-Method", method]];
  return gate.send({
    method: "OPTIONS",
    target,
    authorization: null,
    ...from(origin, { headers }),
  });
}
