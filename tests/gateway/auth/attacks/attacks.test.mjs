/** Attacks with forged tokens and disguised requests. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signToken, withWrongSignature } from "../../../harness/issuer.mjs";
import { mintToken } from "../../../harness/token.mjs";
import { assertProblem, useGate, VIEWS } from "../../recorded_gateway.mjs";
import {
  access,
  assertion,
  bearer,
  CANARY,
  FAULTS,
  foreign,
  gate,
  INVALID,
  issuers,
  LIST,
  lacks,
  MISSING,
  NOT_ALLOWED,
  NOT_MAPPED,
  OTHER,
  odd,
  own,
  REALM,
  trusted,
  workflow,
} from "./fixtures.mjs";

// Each imported file covers one kind of attack on the same gateway. The tests below run after the
// tests of the imported files.
import "./signatures.mjs";
import "./requests.mjs";

describe("an unavailable key set", () => {
  const token = (name) => issuers[name].mint(workflow({}, issuers[name]));

  test("returns 503 when an issuer's key set is unavailable, and follows no redirect", async () => {
    const names = Object.keys(FAULTS);
    const answers = await Promise.all(names.map((name) => gate.get(LIST, bearer(token(name)))));
    for (const answer of answers) {
      assertProblem(answer, 503, "issuer-unavailable");
      assert.ok(Number(answer.header("retry-after")) > 0);
    }
    const forged = signToken(workflow({}, issuers.redirecting), issuers.attacker.key());
    assertProblem(await gate.get(LIST, bearer(forged)), 503, "issuer-unavailable");
    assert.equal(issuers.attacker.jwksRequests, 0);
  });

  test("fetches a failing key set once for concurrent requests", async () => {
    const requests = Array.from({ length: 50 }, () => gate.get(LIST, bearer(token("failing"))));
    for (const answer of await Promise.all(requests)) {
      assertProblem(answer, 503, "issuer-unavailable");
    }
    assert.equal(issuers.failing.jwksRequests, 1);
  });
});

test("sends no attack upstream or to the attacker's own server", async () => {
  const { requests, jobsCreated } = await gate.upstream.counters();
  assert.deepEqual([requests, jobsCreated], [0, 0]);
  assert.equal(issuers.attacker.jwksRequests, 0);
});

describe("valid counterparts of the attacks", () => {
  test("accepts the valid counterpart of each forged token", async () => {
    for (const options of [
      bearer(own()),
      bearer(foreign()),
      bearer(foreign({}, { alg: "ES256" })),
      bearer(foreign({ aud: ["other", "quillgate"], ref: "refs/heads/next" })),
      bearer(foreign(narrowEnough())),
      bearer(signToken(workflow({}, issuers.odd), { ...odd.rsa, kid: "bare" })),
      assertion(access()),
    ]) {
      assert.equal((await gate.get(LIST, options)).status, 200);
      assert.equal((await gate.get(VIEWS, options)).status, 200);
    }
    assert.equal(await gate.received(), 1, "the page is cached after the first request");
  });

  test("serves no cached page to unauthorized callers (GHSA-6wqw-2p9w-4vw4)", async () => {
    const received = await gate.received();
    for (const [options, [status, kind]] of [
      [{ authorization: null }, MISSING],
      [bearer(withWrongSignature(foreign())), INVALID],
      [bearer(own({ projects: [OTHER] })), NOT_ALLOWED],
      [bearer(own({ scope: "jobs:read" })), lacks("analytics:read")],
      [bearer(foreign({ repository: "acme/none" })), NOT_MAPPED],
    ]) {
      const headers = [...(options.headers ?? []), ["If-None-Match", "*"]];
      assertProblem(await gate.get(VIEWS, { ...options, headers }), status, kind);
    }
    assert.equal(await gate.received(), received);
  });

  test("rejects a token that shares only its beginning with a valid one (GHSA-jjhc-v7c2-5hh6)", async () => {
    for (const valid of [foreign(), own()]) {
      assert.equal((await gate.get(LIST, bearer(valid))).status, 200);
      for (const length of [20, 100, valid.lastIndexOf("."), valid.length - 8]) {
        const filled = valid.slice(0, length) + valid.slice(length).replaceAll(/[\w-]/g, "A");
        assertProblem(await gate.get(LIST, bearer(filled)), 401, "invalid-token");
      }
    }
  });

  const narrowEnough = () => ({ repository: "acme/docs", environment: "only jobs:read" });
});

test("keeps tokens, keys, claims and stack traces out of responses and the log", () => {
  for (const text of gate.traffic()) {
    assert.ok(!text.includes(CANARY), "a claim");
    // In base64, every token's header and claims begin with these characters.
    assert.doesNotMatch(text, /eyJ[\w-]{8}/, "a token");
    assert.doesNotMatch(text, /-----BEGIN|"kty"|"n":/, "a key");
    assert.doesNotMatch(text, /panicked|RuntimeError|\n\s+at .+:\d+:\d+/, "a stack");
  }
});

describe("without an issuer that reads Cf-Access-Jwt-Assertion", () => {
  const bare = useGate("attacks-bare", () => {
    const vars = { TRUSTED_ISSUERS: JSON.stringify(trusted().filter((one) => !one.header)) };
    return { gateway: { vars } };
  });

  test("ignores Cf-Access-Jwt-Assertion if no issuer is configured for it", async () => {
    for (const token of [access(), foreign(), mintToken(bare.claims(), bare.secret), "x"]) {
      const answer = await bare.get(LIST, assertion(token, bare));
      assertProblem(answer, 401, "missing-token");
      assert.equal(answer.header("www-authenticate"), REALM);
    }
    const headers = [["Cf-Access-Jwt-Assertion", access()]];
    const answer = await bare.get(LIST, { headers });
    assert.equal(answer.status, 200, "the field does not affect a valid token");
  });

  test("accepts a token of an issuer whose keys are available again", async () => {
    const { garbage } = issuers;
    garbage.setFault();
    const token = garbage.mint(workflow({}, garbage));
    assert.equal((await bare.get(LIST, bearer(token))).status, 200);
  });
});
