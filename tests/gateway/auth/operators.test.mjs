import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { accessClaims, mintToken } from "../../harness/token.mjs";
import {
  assertion,
  bearer,
  DEEP,
  gate,
  OPERATE,
  person,
  trusted,
  useTrustedIssuers,
  workflow,
} from "./trusted_issuers.mjs";

useTrustedIssuers("operators");

describe("an operator", () => {
  const operator = (changes = {}) => {
    const claims = accessClaims({ sub: "olga", scope: OPERATE });
    return bearer(gate.known(mintToken({ ...claims, ...changes }, gate.secret)));
  };

  test("returns the gateway's health to operators, without a project in the token", async () => {
    for (const options of [
      operator(),
      bearer(workflow({ repository: "acme/x", team: "platform" })),
      assertion(person({ email: "x@acme.example", team: "platform" })),
    ]) {
      const answer = await gate.get(DEEP, options);
      assert.equal(answer.status, 200, answer.text);
      const { status, organization, trustedIssuers } = answer.json;
      assert.deepEqual([status, organization.breaker], ["ok", "closed"]);
      assert.deepEqual(
        trustedIssuers,
        trusted().map(({ issuer }) => issuer),
      );
      assert.equal(answer.header("cache-control"), "no-store");
    }
    assert.equal(await gate.received(), 0);
  });
});
