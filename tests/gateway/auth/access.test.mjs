/**
 * Access checks. The gateway checks the authentication scheme, the token, the project and the scope
 * of a request before it sends the request upstream.
 */
import assert from "node:assert/strict";
import { createSign, generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { newSecret } from "../../harness/token.mjs";
import { assertProblem, JOBS, startGate, VIEWS } from "../recorded_gateway.mjs";

const now = () => Math.floor(Date.now() / 1000);

let gate;

before(async () => {
  gate = await startGate("access");
});
after(() => gate?.stop());

/** Asserts that six operations reject this `Authorization` value with the same problem. */
async function assertUnauthorized(authorization, kind, detail) {
  const challenges = {
    "missing-token": 'Bearer realm="quillgate"',
    "invalid-token": 'Bearer realm="quillgate", error="invalid_token"',
  };
  const json = { prompt: "x" };
  for (const answer of [
    await gate.get(VIEWS, { authorization }),
    await gate.get(`${JOBS}/j1`, { authorization }),
    await gate.get(`${JOBS}/j1/events`, { authorization }),
    await gate.get(`${JOBS}s`, { authorization }),
    await gate.post(JOBS, json, { authorization }),
    await gate.post(`${JOBS}/j1/message`, json, { authorization }),
  ]) {
    const problem = assertProblem(answer, 401, kind);
    assert.equal(answer.header("www-authenticate"), challenges[kind]);
    if (detail) assert.match(problem.detail, detail);
  }
}

const testRejectedToken = (what, token, detail) =>
  test(`rejects a token ${what}`, () =>
    assertUnauthorized(`Bearer ${token()}`, "invalid-token", detail));

describe("without a bearer token", () => {
  for (const [what, authorization] of [
    ["without an Authorization field", () => null],
    ["with an empty Authorization field", () => ""],
    ["with a token but no scheme", () => gate.token()],
    [
      "with Basic credentials that hold a token",
      () => `Basic ${Buffer.from(`alice:${gate.token()}`).toString("base64")}`,
    ],
    ["with a valid token under the Basic scheme", () => `Basic ${gate.token()}`],
    ["with a valid token under the Token scheme", () => `Token ${gate.token()}`],
    ["with Bearer but no token", () => "Bearer"],
    ["with a tab after Bearer", () => `Bearer\t${gate.token()}`],
    ["with two schemes in one field", () => `Basic Zm9v, Bearer ${gate.token()}`],
  ]) {
    test(`rejects a request ${what}`, () => assertUnauthorized(authorization(), "missing-token"));
  }

  test("rejects the admin key as a bearer token", () =>
    assertUnauthorized(`Bearer ${gate.key}`, "invalid-token", /is not a signed JWT/));

  test("rejects the token secret as a bearer token", () =>
    assertUnauthorized(`Bearer ${gate.secret}`, "invalid-token", /is not a signed JWT/));
});

describe("a malformed token", () => {
  const MALFORMED = /is not a signed JWT/;
  testRejectedToken("with only one part", () => "token", MALFORMED);
  testRejectedToken("over 16 KiB", () => gate.token({ jti: "x".repeat(13_000) }), /is too long/);
});

describe("a token with a wrong signature or algorithm", () => {
  const ALGORITHM = /must be signed with HS256/;
  const WRONG = /signature is wrong/;
  testRejectedToken("signed with another secret", () => gate.token({}, newSecret()), WRONG);
  testRejectedToken("with alg none and no signature", () => unsigned({ alg: "none" }), ALGORITHM);
  testRejectedToken("signed with a real RS256 key", () => signedWithRsa(), ALGORITHM);
  testRejectedToken(
    "with other claims under a valid signature",
    () => {
      const [header, , signature] = gate.token().split(".");
      const claims = gate.claims({ projects: ["other-docs"] });
      return [header, Buffer.from(JSON.stringify(claims)).toString("base64url"), signature].join(
        ".",
      );
    },
    WRONG,
  );

  function unsigned(header) {
    return gate.tokenOf(header).replace(/[^.]*$/, "");
  }

  function signedWithRsa() {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const signed = gate.tokenOf({ alg: "RS256" }).split(".").slice(0, 2).join(".");
    return `${signed}.${createSign("sha256").update(signed).sign(privateKey, "base64url")}`;
  }
});

describe("a token with invalid claims", () => {
  const INCOMPLETE = /claims are not complete/;
  testRejectedToken("without exp", () => gate.token({ exp: undefined }), INCOMPLETE);
  testRejectedToken(
    "that has expired",
    () => gate.token({ iat: now() - 60, exp: now() }),
    /has expired/,
  );
  testRejectedToken(
    "from another issuer",
    () => gate.token({ iss: "quillgate2" }),
    /another issuer/,
  );
});

describe("a valid token", () => {
  const json = { prompt: "x" };

  async function assertForbidden(changes, target = VIEWS) {
    const answer = await gate.get(target, { authorization: `Bearer ${gate.token(changes)}` });
    const problem = assertProblem(answer, 403, "project-not-allowed");
    assert.equal(answer.header("www-authenticate"), undefined);
    return problem;
  }

  test("rejects a valid token for another project", async () => {
    for (const projects of [
      [],
      ["other-docs"],
      ["*"],
      ["demo-*"],
      [""],
      ["DEMO-DOCS"],
      ["demo-docs "],
      ["demo"],
      ["demo-docs,other-docs"],
    ]) {
      await assertForbidden({ projects });
    }
    for (const project of ["other-docs", "Demo-docs", "demo-docs%20", "empty-docs", "*"]) {
      await assertForbidden({}, `/v1/analytics/${project}/views`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/events`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/record`);
      await assertForbidden({}, `/v2/agent/${project}/job/j1/pull-request`);
      await assertForbidden({}, `/v2/agent/${project}/jobs`);
      await assertForbidden({}, `/v2/agent/${project}/jobs/events`);
    }
  });

  test("reveals neither the existence of a forbidden project nor other errors of the request", async () => {
    const [existing, missing, broken] = await Promise.all([
      assertForbidden({}, "/v1/analytics/empty-docs/views"),
      assertForbidden({}, "/v1/analytics/no-such-docs/views"),
      assertForbidden({}, "/v1/analytics/no-such-docs/views?limit=0&x=1"),
    ]);
    assert.deepEqual(
      [missing, broken].map((problem) => ({ ...problem, instance: existing.instance })),
      [existing, existing],
    );
  });

  for (const [operation, scope, send] of [
    ["creating a job", "jobs:create", (options) => gate.post(JOBS, json, options)],
    ["reading a job", "jobs:read", (options) => gate.get(`${JOBS}/j1`, options)],
    ["streaming a job's events", "jobs:read", (options) => gate.get(`${JOBS}/j1/events`, options)],
    ["listing jobs", "jobs:read", (options) => gate.get(`${JOBS}s`, options)],
    ["watching all jobs", "jobs:read", (options) => gate.get(`${JOBS}s/events`, options)],
    ["reading a record", "jobs:read", (options) => gate.get(`${JOBS}/j1/record`, options)],
    [
      "reading a pull request",
      "jobs:read",
      (options) => gate.get(`${JOBS}/j1/pull-request`, options),
    ],
    [
      "sending a follow-up",
      "jobs:create",
      (options) => gate.post(`${JOBS}/j1/message`, json, options),
    ],
    ["reading page views", "analytics:read", (options) => gate.get(VIEWS, options)],
    [
      "deleting a record",
      "gateway:operate",
      (options) => gate.send({ method: "DELETE", target: `${JOBS}/j1/record`, ...options }),
    ],
  ]) {
    test(`${operation} requires the scope ${scope} and names it in the challenge`, async () => {
      const others = ["jobs:create", "jobs:read", "analytics:read"].filter((one) => one !== scope);
      for (const held of [
        "",
        "*",
        others.join(" "),
        scope.toUpperCase(),
        `${scope}x`,
        scope.split(":")[0],
        `${others[0]},${scope}`,
        `${others[0]}\t${scope}`,
      ]) {
        const answer = await send({ authorization: `Bearer ${gate.token({ scope: held })}` });
        const problem = assertProblem(answer, 403, "insufficient-scope");
        assert.match(problem.detail, new RegExp(`scope ${scope}$`));
        assert.equal(
          answer.header("www-authenticate"),
          `Bearer realm="quillgate", error="insufficient_scope", scope="${scope}"`,
        );
      }
    });
  }
});

test("sends no rejected request upstream, and accepts any case of the Bearer scheme", async () => {
  assert.equal(await gate.received(), 0);
  for (const [n, scheme] of ["Bearer", "bearer", "BEARER", "bEARER "].entries()) {
    const authorization = `${scheme} ${gate.token()}`;
    // Each request has its own date range, so that none is served from the cache.
    const answer = await gate.get(`${VIEWS}?dateFrom=2024-01-0${n + 1}`, { authorization });
    assert.equal(answer.status, 200, scheme);
  }
  assert.equal(await gate.received(), 4);
});
