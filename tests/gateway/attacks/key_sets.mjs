/** Issuers whose key set cannot be had, and tokens of keys that nobody has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signToken } from "../../harness/issuer.mjs";
import { constant, tokenOf } from "../forged.mjs";
import { assertProblem } from "../gate.mjs";
import { bearer, FAULTS, gate, issuers, LIST, workflow } from "./fixtures.mjs";

describe("a key set that cannot be had", () => {
  const token = (name) => issuers[name].mint(workflow({}, issuers[name]));

  test("lets nobody in: 503, and nobody follows a redirect", async () => {
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

  test("is asked for once, however many wait for it", async () => {
    const many = Array.from({ length: 50 }, () => gate.get(LIST, bearer(token("failing"))));
    for (const answer of await Promise.all(many)) {
      assertProblem(answer, 503, "issuer-unavailable");
    }
    assert.equal(issuers.failing.jwksRequests, 1);
  });
});

test("1,000 unknown kids bring at most one look at the key set a minute", async () => {
  const { flooded } = issuers;
  const claims = workflow({}, flooded);
  const unknown = (kid) => tokenOf({ alg: "RS256", kid }, claims, constant(Buffer.alloc(256, 1)));
  for (let batch = 0; batch < 10; batch += 1) {
    const tokens = Array.from({ length: 100 }, (_, at) => unknown(`unknown-${batch}-${at}`));
    const answers = await Promise.all(tokens.map((token) => gate.get(LIST, bearer(token))));
    for (const answer of answers) assertProblem(answer, 401, "invalid-token");
  }
  // The first look, and one for a key that is not there.
  assert.ok(flooded.jwksRequests <= 2, `${flooded.jwksRequests} looks`);
});
