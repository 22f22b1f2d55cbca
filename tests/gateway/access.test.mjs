/** Who is refused, before anything goes upstream: tokens, schemes, projects, scopes. */
import assert from "node:assert/strict";
import { createSign, generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { newSecret } from "../harness/token.mjs";
import { assertProblem, JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

const DAY = 24 * 3600;
const now = () => Math.floor(Date.now() / 1000);
const HS256 = { alg: "HS256", typ: "JWT" };

let gate;

before(async () => {
  gate = await startGate("access");
});
after(() => gate?.stop());

/** Asserts that an `Authorization` is refused for each operation, in the same words. */
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

const refusesToken = (what, token, detail) =>
  test(`refuses ${what}`, () => assertUnauthorized(`Bearer ${token()}`, "invalid-token", detail));

describe("without a bearer token", () => {
  for (const [what, authorization] of [
    ["no Authorization", () => null],
    ["an empty one", () => ""],
    ["a bare token", () => gate.token()],
    ["Basic", () => `Basic ${Buffer.from(`alice:${gate.token()}`).toString("base64")}`],
    ["Basic with a good token", () => `Basic ${gate.token()}`],
    ["Token", () => `Token ${gate.token()}`],
    ["Bearer without a token", () => "Bearer"],
    ["Bearer with a tab", () => `Bearer\t${gate.token()}`],
    ["two schemes", () => `Basic Zm9v, Bearer ${gate.token()}`],
  ]) {
    test(`refuses ${what}`, () => assertUnauthorized(authorization(), "missing-token"));
  }

  test("refuses a token at any other place", async () => {
    const token = gate.token();
    const places = [
      ["X-Authorization", `Bearer ${token}`],
      ["X_Authorization", `Bearer ${token}`],
      ["Authorization_", `Bearer ${token}`],
      ["Proxy-Authorization", `Bearer ${token}`],
      ["X-Forwarded-Authorization", `Bearer ${token}`],
      ["X-Original-Authorization", `Bearer ${token}`],
      ["Cf-Access-Jwt-Assertion", token],
      ["X-Api-Key", token],
      ["Cookie", `token=${token}; authorization=Bearer ${token}`],
      ["X-Forwarded-User", "alice"],
      ["X-Forwarded-Uri", "/healthz"],
      ["User-Agent", "kube-probe/1.30"],
    ];
    for (const header of places) {
      const answer = await gate.get(VIEWS, { authorization: null, headers: [header] });
      assertProblem(answer, 401, "missing-token");
    }
    for (const name of ["access_token", "token", "authorization"]) {
      const answer = await gate.get(`${VIEWS}?${name}=${token}`, { authorization: null });
      assertProblem(answer, 401, "missing-token");
    }
  });

  test("refuses the admin key itself", () =>
    assertUnauthorized(`Bearer ${gate.key}`, "invalid-token", /is not a signed JWT/));

  test("refuses the secret itself", () =>
    assertUnauthorized(`Bearer ${gate.secret}`, "invalid-token", /is not a signed JWT/));
});

describe("a token that is malformed", () => {
  const MALFORMED = /is not a signed JWT/;
  refusesToken("one part", () => "token", MALFORMED);
  refusesToken("empty parts", () => "..", MALFORMED);
  refusesToken("a part too few", () => gate.token().split(".").slice(0, 2).join("."), MALFORMED);
  refusesToken("a part too many", () => `${gate.token()}.x`);
  refusesToken("padding", () => `${gate.token()}=`, MALFORMED);
  refusesToken("two in one field", () => `${gate.token()}, Bearer ${gate.token()}`);
  refusesToken("a header that is no object", () => gate.tokenOf('["HS256","JWT",null]'), MALFORMED);
  refusesToken("two algorithms", () => gate.tokenOf('{"alg":"none","alg":"HS256"}'), MALFORMED);
  refusesToken("over 8 KiB", () => gate.token({ jti: "x".repeat(7000) }), /is too long/);

  test("refuses two Authorization fields, even two good ones", async () => {
    for (const second of [gate.token(), "x"]) {
      for (const [first, last] of [
        [gate.token(), second],
        [second, gate.token()],
      ]) {
        const headers = [["Authorization", `Bearer ${last}`]];
        const answer = await gate.get(VIEWS, { authorization: `Bearer ${first}`, headers });
        assertProblem(answer, 401, "invalid-token");
      }
    }
  });
});

describe("a token with another signature", () => {
  const ALGORITHM = /must be signed with HS256/;
  const WRONG = /signature is wrong/;
  refusesToken("that of another secret", () => gate.token({}, newSecret()), WRONG);
  refusesToken("none where there should be one", () => unsigned(HS256), WRONG);
  for (const alg of ["none", "None", "NONE"]) {
    refusesToken(`alg ${alg} without a signature`, () => unsigned({ alg, typ: "JWT" }), ALGORITHM);
    refusesToken(`alg ${alg} with a right one`, () => gate.tokenOf({ alg }), ALGORITHM);
  }
  for (const alg of ["RS256", "ES256", "PS256", "EdDSA", "hs256", "HS384"]) {
    refusesToken(`${alg} with our secret as HMAC`, () => gate.tokenOf({ alg }), ALGORITHM);
  }
  refusesToken("HS512", () => gate.tokenOf({ alg: "HS512" }, { hash: "sha512" }), ALGORITHM);
  refusesToken("HS512 named HS256", () => gate.tokenOf(HS256, { hash: "sha512" }), WRONG);
  refusesToken("a real RS256 one", () => signedWithRsa(), ALGORITHM);
  refusesToken(
    "a key that comes along",
    () => gate.tokenOf({ ...HS256, jwk: { kty: "oct", k: "eA" } }, { secret: "x" }),
    WRONG,
  );
  refusesToken(
    "an extension that must be understood",
    () => gate.tokenOf({ ...HS256, crit: ["b64"], b64: false }),
    /of an unknown kind/,
  );
  refusesToken("another type", () => gate.tokenOf({ ...HS256, typ: "JWE" }), /of an unknown kind/);
  refusesToken(
    "other claims under a good one",
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

describe("a token with other claims", () => {
  const INCOMPLETE = /claims are not complete/;
  for (const name of ["iss", "sub", "projects", "scope", "iat", "exp"]) {
    refusesToken(`no ${name}`, () => gate.token({ [name]: undefined }), INCOMPLETE);
  }
  refusesToken("expired", () => gate.token({ iat: now() - 60, exp: now() }), /has expired/);
  refusesToken("an exp of text", () => gate.token({ exp: String(now() + 60) }), INCOMPLETE);
  refusesToken("an exp beyond numbers", () => withClaim(`"exp":1e999`), INCOMPLETE);
  refusesToken("two exps", () => withClaim(`"exp":${now() + 60},"exp":${now() + 60}`), INCOMPLETE);
  refusesToken("a far exp", () => gate.token({ exp: now() + 91 * DAY }), /longer than 90 days/);
  refusesToken("an exp for ever", () => gate.token({ exp: 1e300 }), /longer than 90 days/);
  refusesToken("issued tomorrow", () => gate.token({ iat: now() + DAY }), /not valid yet/);
  refusesToken("valid from tomorrow", () => gate.token({ nbf: now() + DAY }), /not valid yet/);
  refusesToken("another issuer", () => gate.token({ iss: "quillgate2" }), /another issuer/);
  refusesToken("nobody's", () => gate.token({ sub: "" }), /no subject/);
  refusesToken("projects of text", () => gate.token({ projects: PROJECT }), INCOMPLETE);
  refusesToken("no object", () => gate.tokenOf(HS256, { claims: "[]" }), INCOMPLETE);

  function withClaim(text) {
    const claims = JSON.stringify(gate.claims({ exp: undefined })).replace("{", `{${text},`);
    return gate.tokenOf(HS256, { claims });
  }
});

describe("a good token", () => {
  const json = { prompt: "x" };

  async function assertForbidden(changes, target = VIEWS) {
    const answer = await gate.get(target, { authorization: `Bearer ${gate.token(changes)}` });
    const problem = assertProblem(answer, 403, "project-not-allowed");
    assert.equal(answer.header("www-authenticate"), undefined);
    return problem;
  }

  test("does not open another project", async () => {
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
      await assertForbidden({}, `/v2/agent/${project}/jobs`);
    }
  });

  test("does not say whether another project exists, or what else is wrong", async () => {
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
    ["create", "jobs:create", (options) => gate.post(JOBS, json, options)],
    ["get", "jobs:read", (options) => gate.get(`${JOBS}/j1`, options)],
    ["events", "jobs:read", (options) => gate.get(`${JOBS}/j1/events`, options)],
    ["list", "jobs:read", (options) => gate.get(`${JOBS}s`, options)],
    ["follow-up", "jobs:create", (options) => gate.post(`${JOBS}/j1/message`, json, options)],
    ["page views", "analytics:read", (options) => gate.get(VIEWS, options)],
    [
      "deleting a record",
      "gateway:operate",
      (options) => gate.send({ method: "DELETE", target: `${JOBS}/j1/record`, ...options }),
    ],
  ]) {
    test(`is not enough for ${operation} without ${scope}, which the challenge names`, async () => {
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

test("nothing of all this has reached the upstream, which a good token then does", async () => {
  assert.equal(await gate.received(), 0);
  for (const [n, scheme] of ["Bearer", "bearer", "BEARER", "bEARER "].entries()) {
    const authorization = `${scheme} ${gate.token()}`;
    // A range of its own each, so that each is fetched.
    const answer = await gate.get(`${VIEWS}?dateFrom=2024-01-0${n + 1}`, { authorization });
    assert.equal(answer.status, 200, scheme);
  }
  assert.equal(await gate.received(), 4);
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
