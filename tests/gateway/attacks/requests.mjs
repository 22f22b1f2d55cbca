/** Good tokens where none belongs, and requests that pretend to be others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, JOBS, PROJECT, VIEWS } from "../gate.mjs";
import {
  access,
  assertRefused,
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

describe("a token at another place", () => {
  const refusesPlaces = (what, fields) =>
    test(`is not taken from ${what}`, () => assertRefused(smuggled(...fields()), MISSING));

  for (const name of [
    ...["authorization_", "x-authorization", "x_authorization", "proxy-authorization"],
    ...["x-forwarded-authorization", "x-original-authorization", "x-access-token", "x-api-key"],
  ]) {
    refusesPlaces(`${name}, own`, () => [[name, `Bearer ${own()}`]]);
    refusesPlaces(`${name}, foreign`, () => [[name, `Bearer ${foreign()}`]]);
  }
  for (const name of [
    ...["cf_access_jwt_assertion", "CF_ACCESS_JWT_ASSERTION", "Cf-Access_Jwt-Assertion"],
    ...["cf-access-jwt-assertion-", "x-cf-access-jwt-assertion", "cf-access-token"],
  ]) {
    refusesPlaces(`${name} (CVE-2025-64484)`, () => [[name, access()]]);
  }
  for (const [what, cookie] of [
    ["Access's cookie", () => `CF_Authorization=${access()}`],
    ["a cookie", () => `authorization=Bearer ${own()}; token=${own()}`],
  ]) {
    refusesPlaces(what, () => [["Cookie", cookie()]]);
  }
  refusesPlaces("who a proxy says it is", () => [
    ["X-Forwarded-User", "alice"],
    ["X-Forwarded-Email", "alice@acme.example"],
    ["X-Auth-Request-User", "alice"],
    ["Cf-Access-Authenticated-User-Email", "alice@acme.example"],
    ["Remote-User", "alice"],
    ["X-Real-IP", "127.0.0.1"],
  ]);

  test("is not taken from the query (RFC 6750, section 2.3)", async () => {
    for (const name of ["access_token", "token", "authorization", "jwt", "key"]) {
      for (const token of [own(), foreign(), `Bearer%20${own()}`]) {
        const asked = operations().map((operation) => ({
          ...operation,
          target: `${operation.target}?${name}=${token}`,
        }));
        await assertRefused({ authorization: null }, MISSING, asked);
      }
    }
  });

  test("is not taken from a form's body (RFC 6750, section 2.2)", async () => {
    const answer = await gate.send({
      ...{ method: "POST", target: JOBS, authorization: null, body: `access_token=${own()}` },
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
    });
    assertProblem(answer, 401, "missing-token");
  });

  test("is not taken from another scheme (CVE-2026-47673)", async () => {
    for (const scheme of [
      "Basic",
      "Token",
      "JWT",
      "DPoP",
      "BearerX",
      "Bearer:",
      "X-Bearer",
      '"Bearer"',
    ]) {
      await assertRefused({ authorization: `${scheme} ${own()}` }, MISSING);
      await assertRefused({ authorization: `${scheme} ${foreign()}` }, MISSING);
    }
  });

  test("does not make up for an Authorization that is none (GHSA-7488-6r32-c95q)", async () => {
    const headers = [["Cf-Access-Jwt-Assertion", access()]];
    await assertRefused({ authorization: "Bearer x", headers }, INVALID);
    await assertRefused({ authorization: "Basic Zm9vOmJhcg==", headers }, MISSING);
    await assertRefused({ authorization: "x", headers }, MISSING);
  });

  test("is refused in two Authorization fields, joined or not", async () => {
    const [good, other] = [own(), foreign()];
    for (const [first, second] of [
      [good, good],
      [other, other],
      [good, other],
      [other, good],
      [good, "x"],
      ["x", good],
    ]) {
      const headers = [["Authorization", `Bearer ${second}`]];
      await assertRefused({ authorization: `Bearer ${first}`, headers }, INVALID, SAMPLE);
      for (const joint of [", Bearer ", ",Bearer ", "; Bearer ", " Bearer ", ", ", " ", ","]) {
        await assertRefused(bearer(`${first}${joint}${second}`), INVALID, SAMPLE);
      }
    }
  });

  test("is refused behind another scheme's field", async () => {
    const headers = [["Authorization", `Bearer ${own()}`]];
    await assertRefused({ authorization: "Basic Zm9vOmJhcg==", headers }, MISSING);
    await assertRefused({ authorization: `Basic Zm9v, Bearer ${own()}` }, MISSING);
  });
});

describe("a field that claims another request", () => {
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

  test("opens nothing without a token (GHSA-7x63-xv5r-3p2x)", async () => {
    for (const field of REWRITES) await assertRefused(smuggled(field), MISSING);
    await assertRefused(smuggled(...REWRITES), MISSING, [DEEP]);
  });

  test("does not lead into another project", async () => {
    for (const name of ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri"]) {
      const options = { ...bearer(own()), headers: [[name, VIEWS]] };
      await assertRefused(options, NOT_ALLOWED, operations(OTHER));
    }
  });

  test("does not change the method", async () => {
    const reader = bearer(own({ scope: "jobs:create" }));
    for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
      const answer = await gate.get(JOBS, { ...reader, headers: [[name, "POST"]] });
      assertProblem(answer, 405, "method-not-allowed");
    }
    const answer = await gate.get(`${JOBS}?_method=POST`, reader);
    assertProblem(answer, 405, "method-not-allowed");
  });

  test("nor does a health check's user agent (GHSA-5hvv-m4w4-gf6v)", async () => {
    for (const agent of ["GoogleHC/1.0", "kube-probe/1.30", "ELB-HealthChecker/2.0", "/ping"]) {
      await assertRefused(smuggled(["User-Agent", agent]), MISSING, [...operations(), DEEP]);
    }
  });

  test("nor does a Vary of the caller's go into the answer (GHSA-q7jf-gf43-6x6p)", async () => {
    const answer = await gate.get(
      VIEWS,
      smuggled(["Vary", "*"], ["Origin", "https://docs.example"]),
    );
    assertProblem(answer, 401, "missing-token");
    assert.equal(answer.header("vary"), "Origin");
  });
});

describe("bytes that no field may hold", () => {
  const head = (fields) => {
    const lines = [`GET ${LIST} HTTP/1.1`, `Host: ${gate.host}`, ...fields, "", ""];
    return Buffer.from(lines.join("\r\n"), "latin1");
  };

  /** The statuses of the ways out: the runtime's own refusals, and the gateway's. */
  const assertNobody = (answer) => {
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
    test(`do no harm: ${what}`, async () => {
      const token = own();
      for (const fields of [
        // Whatever the shell reads first must not become what it reads next.
        [`X-Request-Id: a${bytes}00-trace${bytes}Bearer ${token}${bytes}X-Injected: 1`],
        [`Traceparent: a${bytes}Bearer ${token}`],
        [`User-Agent: x${bytes}Bearer ${token}`],
        [`Authorization: Basic x${bytes}Bearer ${token}`],
        [`Cf-Access-Jwt-Assertion: x${bytes}${token}`],
        [`Authorization: Bearer ${token.slice(0, 40)}${bytes}x${token.slice(40)}`],
        [`Authori${bytes}zation: Bearer ${token}`],
      ]) {
        assertNobody(await gate.sendBytes(head(fields)));
      }
    });
  }

  test("a request's id with such is replaced, and nothing is injected", async () => {
    for (const bytes of ["\r\n ", "\v", "\x7f", "\xe9", "\t", " ", "<b>", '"', ";", "%0d%0a"]) {
      const answer = await gate.sendBytes(head([`X-Request-Id: a${bytes}X-Injected: 1`]));
      assertProblem(answer, 401, "missing-token");
      assert.equal(answer.header("x-injected"), undefined);
    }
  });
});

describe("a path or a query that pretends", () => {
  const owner = () => bearer(own());
  const refused = (target, [status, kind], options = owner) =>
    test(`is refused: ${target}`, async () => {
      assertProblem(await gate.get(target, options()), status, kind);
    });
  const NOT_FOUND = [404, "not-found"];
  const IN_DISGUISE = [400, "invalid-request"];
  const nobody = () => ({ authorization: null });

  for (const dots of ["..", "%2e%2e", ".%2e", "%2E."]) {
    refused(`/v2/agent/${PROJECT}/${dots}/${OTHER}/job/j1`, NOT_ALLOWED);
    refused(`/v1/analytics/${PROJECT}\\${dots}\\${OTHER}\\views`, NOT_ALLOWED);
  }
  for (const target of [
    `//v2/agent/${PROJECT}/job/j1`,
    `/v2//agent/${PROJECT}/job/j1`,
    `/%2fv2/agent/${PROJECT}/job/j1`,
    // CVE-2026-47676: a prefix that was cut from a path before it was decoded.
    `/%76%32/agent/${PROJECT}/job/j1`,
    `/v2%2fagent%2f${PROJECT}%2fjob%2fj1`,
    `/v2%5cagent%5c${PROJECT}%5cjob%5cj1`,
    `${VIEWS};x=1`,
    `${VIEWS}%00`,
    `${VIEWS}%3flimit=1`,
    `${VIEWS}%23/healthz`,
  ]) {
    refused(target, NOT_FOUND);
  }
  for (const id of [
    "..%2f..%2fother-docs",
    "..%5c..",
    "%252e%252e",
    "a%00",
    "a%23b",
    "a%3fb",
    "%c0%ae",
  ]) {
    refused(`${JOBS}/${id}`, IN_DISGUISE);
    refused(`/v1/analytics/${id}/views`, IN_DISGUISE);
  }
  refused(`/v1/analytics/${PROJECT};a/views`, NOT_ALLOWED);

  // GHSA-pxq7-h93f-9jrg and GHSA-7rh7-c77v-6434: what may be had without a token stands elsewhere.
  for (const target of [
    `${VIEWS}#/healthz`,
    `${VIEWS}?/healthz`,
    `${VIEWS}?x=/healthz`,
    `${VIEWS}?next=/openapi.json`,
    `/healthz/..${VIEWS}`,
    `/healthz/%2e%2e${VIEWS}`,
    "/healthz?deep=",
    "/healthz?x&deep",
    "/healthz?deep#x",
  ]) {
    refused(target, MISSING, nobody);
  }
  for (const target of ["/healthz/?deep", "/healthz%3fdeep", "//healthz?deep", "/healthz/deep"]) {
    refused(target, NOT_FOUND, nobody);
  }

  test("is refused: an absolute target, there or elsewhere", async () => {
    for (const host of ["evil.example", gate.host]) {
      for (const path of [VIEWS, "/healthz?deep"]) {
        const target = `http://${host}${path}`;
        for (const options of [nobody(), owner()]) {
          const answer = await gate.get(target, options);
          assert.ok(answer.status >= 400, `${target} ${answer.status}`);
          assert.doesNotMatch(answer.text, /totals|breaker/);
        }
      }
    }
  });

  test("tells nobody more than that the Worker is up", async () => {
    for (const target of [
      "/healthz?DEEP",
      "/healthz?%64eep",
      "/healthz?x=deep",
      "/healthz#?deep",
    ]) {
      const answer = await gate.get(target, { authorization: null });
      assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }], target);
    }
  });

  test("a body of unknown length is counted (GHSA-92vj-g62v-jqhh)", async () => {
    const body = JSON.stringify({ prompt: "x".repeat(128 * 1024) });
    for (const length of [[], [["Content-Length", "5"]]]) {
      const headers = [["Content-Type", "application/json"], ...length];
      const options = { method: "POST", target: JOBS, ...owner(), headers, body, chunked: true };
      assertProblem(await answerOfWorker(options), 413, "content-too-large");
    }
  });

  /**
   * Wrangler's proxy at times gives up itself when the Worker answers before it has read a body
   * to its end: then it is asked again.
   */
  async function answerOfWorker(options, attempts = 20) {
    const answer = await gate.send(options);
    const ofProxy = answer.text.startsWith("Your worker restarted mid-request");
    return ofProxy && attempts > 1 ? answerOfWorker(options, attempts - 1) : answer;
  }
});
