/**
 * Revocation and rotation. The gateway rejects revoked tokens. During a rotation of its secrets,
 * the gateway accepts its own tokens signed with the newest or the previous secret.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mintToken, newSecret } from "../../harness/token.mjs";
import { assertProblem } from "../recorded_gateway.mjs";
import {
  assertAccepted,
  assertion,
  assertUnauthorized,
  bearer,
  gate,
  LIST,
  oldSecret,
  person,
  revokedBefore,
  useTrustedIssuers,
  workflow,
} from "./trusted_issuers.mjs";

useTrustedIssuers("revocation");

describe("a gateway token", () => {
  const own = (changes) => bearer(gate.token(changes));

  test("accepts tokens signed with the newest or the previous secret only", async () => {
    await assertAccepted(own());
    await assertAccepted(bearer(gate.known(mintToken(gate.claims(), oldSecret))));
    const stranger = bearer(gate.known(mintToken(gate.claims(), newSecret())));
    assertUnauthorized(await gate.get(LIST, stranger), /signature is wrong/);
    const both = `${gate.secret},${oldSecret}`;
    const joined = bearer(gate.tokenOf({ alg: "HS256" }, { secret: both }));
    assertUnauthorized(await gate.get(LIST, joined), /signature is wrong/);
  });

  test("rejects a token with a revoked jti, whatever its subject", async () => {
    for (const sub of ["alice", "bob"]) {
      const answer = await gate.get(LIST, own({ sub, jti: "leaked" }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const old = bearer(gate.known(mintToken(gate.claims({ jti: "leaked" }), oldSecret)));
    assertUnauthorized(await gate.get(LIST, old), /has been revoked/);
  });

  test("rejects a token whose jti a second revocation variable lists", async () => {
    for (const jti of ["leaked-0", "leaked-199"]) {
      assertUnauthorized(await gate.get(LIST, own({ jti })), /has been revoked/);
    }
    await assertAccepted(own({ jti: "leaked-200" }));
  });

  test("accepts a token whose jti is absent or only similar to a revoked one", async () => {
    for (const jti of ["leaked2", "leake", "Leaked", " leaked", undefined]) {
      await assertAccepted(own({ jti }));
    }
  });

  test("rejects a token issued before its subject's revocation instant", async () => {
    for (const iat of [revokedBefore - 1, revokedBefore - 86_400]) {
      const answer = await gate.get(LIST, own({ sub: "mallory", iat }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const half = own({ sub: "mallory", iat: revokedBefore - 0.5 });
    assertUnauthorized(await gate.get(LIST, half), /has been revoked/);
  });

  test("accepts newer tokens of a revoked subject, and tokens of other subjects", async () => {
    await assertAccepted(own({ sub: "mallory", iat: revokedBefore }));
    await assertAccepted(own({ sub: "mallory" }));
    for (const sub of ["alice", "Mallory", "mallory2", "mallor"]) {
      await assertAccepted(own({ sub, iat: revokedBefore - 3600 }));
    }
  });

  test("returns the same problem type for revoked and malformed tokens", async () => {
    const revoked = assertProblem(
      await gate.get(LIST, own({ jti: "leaked" })),
      401,
      "invalid-token",
    );
    const wrong = assertProblem(await gate.get(LIST, bearer("x")), 401, "invalid-token");
    assert.deepEqual(
      [revoked.type, revoked.title, revoked.status],
      [wrong.type, wrong.title, wrong.status],
    );
  });
});

describe("a trusted issuer's token", () => {
  test("rejects an issuer's token with revoked claims, and accepts its other tokens", async () => {
    const stolen = bearer(workflow({ repository_id: "6666" }));
    assertUnauthorized(await gate.get(LIST, stolen), /has been revoked/);
    await assertAccepted(bearer(workflow()));
  });

  test("rejects an issuer's token with a revoked subject, even if a rule matches", async () => {
    const former = assertion(person({ sub: "left-the-company" }));
    assertUnauthorized(await gate.get(LIST, former), /has been revoked/);
    await assertAccepted(assertion(person()));
  });
});

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
