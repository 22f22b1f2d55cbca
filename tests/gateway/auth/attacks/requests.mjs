import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, JOBS, PROJECT, VIEWS } from "../../recorded_gateway.mjs";
import {
  access,
  assertRejected,
  bearer,
  DEEP,
  foreign,
  gate,
  INVALID,
  LIST,
  MISSING,
  NOT_ALLOWED,
  OTHER,
  operations,
  own,
  SAMPLE,
  smuggled,
} from "./fixtures.mjs";

describe("a token in another place", () => {
  const testIgnored = (what, fields) =>
    test(`rejects a request whose only credential is ${what}`, () =>
      assertRejected(smuggled(...fields()), MISSING));

  for (const name of [
    ...["authorization_", "x-authorization", "x_authorization", "proxy-authorization"],
    ...["x-forwarded-authorization", "x-original-authorization", "x-access-token", "x-api-key"],
  ]) {
    testIgnored(`a gateway token in ${name}`, () => [[name, `Bearer ${own()}`]]);
    testIgnored(`an issuer's token in ${name}`, () => [[name, `Bearer ${foreign()}`]]);
  }
  for (const name of [
    ...["cf_access_jwt_assertion", "CF_ACCESS_JWT_ASSERTION", "Cf-Access_Jwt-Assertion"],
    ...["cf-access-jwt-assertion-", "x-cf-access-jwt-assertion", "cf-access-token"],
  ]) {
    testIgnored(`an Access token in ${name} (CVE-2025-64484)`, () => [[name, access()]]);
  }
  for (const [what, cookie] of [
    ["the cookie of Cloudflare Access", () => `CF_Authorization=${access()}`],
    ["gateway tokens in a cookie", () => `authorization=Bearer ${own()}; token=${own()}`],
  ]) {
    testIgnored(what, () => [["Cookie", cookie()]]);
  }
  testIgnored("the identity fields of a proxy", () => [
    ["X-Forwarded-User", "alice"],
    ["X-Forwarded-Email", "alice@acme.example"],
    ["X-Auth-Request-User", "alice"],
    ["Cf-Access-Authenticated-User-Email", "alice@acme.example"],
    ["Remote-User", "alice"],
    ["X-Real-IP", "127.0.0.1"],
  ]);

  test("ignores a token in the query (RFC 6750, section 2.3)", async () => {
    for (const name of ["access_token", "token", "authorization", "jwt", "key"]) {
      for (const token of [own(), foreign(), `Bearer%20${own()}`]) {
        const targets = operations().map((operation) => ({
          ...operation,
          target: `${operation.target}?${name}=${token}`,
        }));
        await assertRejected({ authorization: null }, MISSING, targets);
      }
    }
  });

  test("ignores a token in a form body (RFC 6750, section 2.2)", async () => {
    const answer = await gate.send({
      ...{ method: "POST", target: JOBS, authorization: null, body: `access_token=${own()}` },
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
    });
    assertProblem(answer, 401, "missing-token");
  });

  test("ignores a token under another scheme (CVE-2026-47673)", async () => {
    const schemes = ["Basic", "Token", "JWT", "DPoP", "BearerX", "Bearer:", "X-Bearer", '"Bearer"'];
    for (const scheme of schemes) {
      await assertRejected({ authorization: `${scheme} ${own()}` }, MISSING);
      await assertRejected({ authorization: `${scheme} ${foreign()}` }, MISSING);
    }
  });

  test("rejects an invalid Authorization field next to a valid Access token (GHSA-7488-6r32-c95q)", async () => {
    const headers = [["Cf-Access-Jwt-Assertion", access()]];
    await assertRejected({ authorization: "Bearer x", headers }, INVALID);
    await assertRejected({ authorization: "Basic Zm9vOmJhcg==", headers }, MISSING);
    await assertRejected({ authorization: "x", headers }, MISSING);
  });

  test("rejects two tokens in two Authorization fields or in one", async () => {
    const [gatewayToken, issuerToken] = [own(), foreign()];
    for (const [first, second] of [
      [gatewayToken, gatewayToken],
      [issuerToken, issuerToken],
      [gatewayToken, issuerToken],
      [issuerToken, gatewayToken],
      [gatewayToken, "x"],
      ["x", gatewayToken],
    ]) {
      const headers = [["Authorization", `Bearer ${second}`]];
      await assertRejected({ authorization: `Bearer ${first}`, headers }, INVALID, SAMPLE);
      for (const separator of [", Bearer ", ",Bearer ", "; Bearer ", " Bearer ", ", ", " ", ","]) {
        await assertRejected(bearer(`${first}${separator}${second}`), INVALID, SAMPLE);
      }
    }
  });
});

for (const [what, authorization] of [
  ["without an Authorization field", () => null],
  ["with an empty Authorization field", () => ""],
  ["with a token but no scheme", own],
  [
    "with Basic credentials that hold a token",
    () => `Basic ${Buffer.from(`alice:${own()}`).toString("base64")}`,
  ],
  ["with Bearer but no token", () => "Bearer"],
  ["with a tab after Bearer", () => `Bearer\t${own()}`],
  ["with two schemes in one field", () => `Basic Zm9v, Bearer ${own()}`],
]) {
  test(`rejects a request ${what}`, () =>
    assertRejected({ authorization: authorization() }, MISSING));
}

test("rejects a valid token for another project", async () => {
  const others = [
    OTHER,
    "*",
    "demo-*",
    "",
    "DEMO-DOCS",
    "demo-docs ",
    "demo",
    "demo-docs,other-docs",
  ];
  for (const projects of [[], ...others.map((name) => [name])]) {
    await assertRejected(bearer(own({ projects })), NOT_ALLOWED);
  }
  for (const project of [OTHER, "Demo-docs", "demo-docs%20", "empty-docs", "*"]) {
    const job = `/v2/agent/${project}/job/j1`;
    const more = ["/record", "/pull-request"].map((rest) => ({ target: job + rest }));
    const targets = [
      ...operations(project),
      ...more,
      { target: `/v2/agent/${project}/jobs/events` },
    ];
    await assertRejected(bearer(own()), NOT_ALLOWED, targets);
  }
});

describe("a field that overrides the request", () => {
  const REWRITES = [
    ["X-Original-URL", "/healthz"],
    ["X-Rewrite-URL", "/healthz"],
    ["X-Forwarded-Uri", "/healthz"],
    ["X-Forwarded-Path", "/healthz"],
    ["X-Forwarded-Prefix", "/healthz"],
    ["X-Forwarded-Host", "127.0.0.1"],
    ["X-Forwarded-Method", "OPTIONS"],
    ["X-HTTP-Method-Override", "OPTIONS"],
    ["X-HTTP-Method", "OPTIONS"],
    ["X-Method-Override", "OPTIONS"],
    ["Forwarded", "for=127.0.0.1;host=127.0.0.1;proto=https"],
    ["X-Forwarded-For", "127.0.0.1"],
  ];

  test("rejects a request without a token, whatever override field it has (GHSA-7x63-xv5r-3p2x)", async () => {
    for (const field of REWRITES) await assertRejected(smuggled(field), MISSING);
    await assertRejected(smuggled(...REWRITES), MISSING, [DEEP]);
  });

  test("does not take the method from an override field or the query", async () => {
    const reader = bearer(own({ scope: "jobs:create" }));
    for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
      const answer = await gate.get(JOBS, { ...reader, headers: [[name, "POST"]] });
      assertProblem(answer, 405, "method-not-allowed");
    }
    const answer = await gate.get(`${JOBS}?_method=POST`, reader);
    assertProblem(answer, 405, "method-not-allowed");
  });
});

describe("forbidden bytes in a field", () => {
  const head = (fields) => {
    const lines = [`GET ${LIST} HTTP/1.1`, `Host: ${gate.host}`, ...fields, "", ""];
    return Buffer.from(lines.join("\r\n"), "latin1");
  };

  /** Asserts that the runtime or the gateway rejected the request and injected no field. */
  const assertHarmless = (answer) => {
    assert.ok([400, 401, 403, 500].includes(answer.status), answer.raw.toString());
    assert.doesNotMatch(answer.raw.toString(), /^x-injected/im);
    assert.doesNotMatch(answer.text, /"jobs"/);
  };

  for (const [what, bytes] of [
    ["CR and LF", "\r\n"],
    ["LF", "\n"],
    ["CR", "\r"],
    ["a folded line", "\r\n "],
    ["a line folded by a tab", "\r\n\t"],
    ["NUL", "\0"],
    ["a vertical tab", "\v"],
    ["a form feed", "\f"],
    ["DEL", "\x7f"],
    ["NEL", "\x85"],
    ["Latin-1", "\xe9"],
    ["a line separator in UTF-8", "\xe2\x80\xa8"],
  ]) {
    test(`neither injects a field nor authorizes the request because of ${what} in a field`, async () => {
      const token = own();
      for (const fields of [
        // The rest of a value must not become a separate header field.
        [`X-Request-Id: a${bytes}00-trace${bytes}Bearer ${token}${bytes}X-Injected: 1`],
        [`Traceparent: a${bytes}Bearer ${token}`],
        [`User-Agent: x${bytes}Bearer ${token}`],
        [`Authorization: Basic x${bytes}Bearer ${token}`],
        [`Cf-Access-Jwt-Assertion: x${bytes}${token}`],
        [`Authorization: Bearer ${token.slice(0, 40)}${bytes}x${token.slice(40)}`],
        [`Authori${bytes}zation: Bearer ${token}`],
      ]) {
        assertHarmless(await gate.sendBytes(head(fields)));
      }
    });
  }
});

describe("a disguised path or query", () => {
  const authorized = () => bearer(own());
  const testRejectedTarget = (target, [status, kind], options = authorized) =>
    test(`rejects the target ${target}`, async () => {
      assertProblem(await gate.get(target, options()), status, kind);
    });
  const NOT_FOUND = [404, "not-found"];
  const INVALID_REQUEST = [400, "invalid-request"];
  const anonymous = () => ({ authorization: null });

  // The runtime resolves plain dot segments between slashes. Paths with backslashes or with encoded
  // dot segments match no route.
  testRejectedTarget(`/v2/agent/${PROJECT}/../${OTHER}/job/j1`, NOT_ALLOWED);
  testRejectedTarget(`/v1/analytics/${PROJECT}\\..\\${OTHER}\\views`, NOT_FOUND);
  for (const dots of ["%2e%2e", ".%2e", "%2E."]) {
    testRejectedTarget(`/v2/agent/${PROJECT}/${dots}/${OTHER}/job/j1`, NOT_FOUND);
    testRejectedTarget(`/v1/analytics/${PROJECT}\\${dots}\\${OTHER}\\views`, NOT_FOUND);
  }
  // CVE-2026-47676: a gateway removed a prefix from a path before it decoded the path.
  testRejectedTarget(`/%76%32/agent/${PROJECT}/job/j1`, NOT_FOUND);
  testRejectedTarget(`/v2%5cagent%5c${PROJECT}%5cjob%5cj1`, NOT_FOUND);
  testRejectedTarget(`${JOBS}/..%2f..%2fother-docs`, INVALID_REQUEST);
  testRejectedTarget("/v1/analytics/%c0%ae/views", INVALID_REQUEST);
  testRejectedTarget(`/v1/analytics/${PROJECT};a/views`, NOT_ALLOWED);

  // GHSA-pxq7-h93f-9jrg and GHSA-7rh7-c77v-6434: a public path elsewhere in the target must not
  // make the target public.
  for (const target of [
    ...[`${VIEWS}#/healthz`, `${VIEWS}?/healthz`, `/healthz/..${VIEWS}`],
    ...["/healthz?deep=", "/healthz?x&deep", "/healthz?deep#x"],
  ]) {
    testRejectedTarget(target, MISSING, anonymous);
  }
  for (const target of ["/healthz/?deep", "//healthz?deep", `/healthz/%2e%2e${VIEWS}`]) {
    testRejectedTarget(target, NOT_FOUND, anonymous);
  }

  test("rejects an absolute target on the gateway's own host and on another host", async () => {
    for (const host of ["evil.example", gate.host]) {
      for (const path of [VIEWS, "/healthz?deep"]) {
        const target = `http://${host}${path}`;
        for (const options of [anonymous(), authorized()]) {
          const answer = await gate.get(target, options);
          assert.ok(answer.status >= 400, `${target} ${answer.status}`);
          assert.doesNotMatch(answer.text, /totals|breaker/);
        }
      }
    }
  });
});
