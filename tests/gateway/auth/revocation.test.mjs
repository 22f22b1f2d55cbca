/** Revoked secrets, keys and tokens. */
import { describe, test } from "node:test";
import { mintToken, newSecret } from "../../harness/token.mjs";
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

  test("rejects a token issued before its subject's revocation instant", async () => {
    for (const iat of [revokedBefore - 1, revokedBefore - 86_400]) {
      const answer = await gate.get(LIST, own({ sub: "mallory", iat }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const half = own({ sub: "mallory", iat: revokedBefore - 0.5 });
    assertUnauthorized(await gate.get(LIST, half), /has been revoked/);
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
