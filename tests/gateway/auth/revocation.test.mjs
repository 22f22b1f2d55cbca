import { describe, test } from "node:test";
import { mintToken } from "../../harness/token.mjs";
import {
  assertUnauthorized,
  bearer,
  gate,
  LIST,
  oldSecret,
  useTrustedIssuers,
} from "./trusted_issuers.mjs";

useTrustedIssuers("revocation");

describe("a gateway token", () => {
  const own = (changes) => bearer(gate.token(changes));

  test("rejects a token with a revoked jti, whatever its subject", async () => {
    for (const sub of ["alice", "bob"]) {
      const answer = await gate.get(LIST, own({ sub, jti: "leaked" }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const old = bearer(gate.known(mintToken(gate.claims({ jti: "leaked" }), oldSecret)));
    assertUnauthorized(await gate.get(LIST, old), /has been revoked/);
  });
});
