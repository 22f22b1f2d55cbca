import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signToken } from "../../../harness/issuer.mjs";
import { assertProblem } from "../../recorded_gateway.mjs";
import { bearer, FAULTS, gate, issuers, LIST, workflow } from "./fixtures.mjs";

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
