/**
 * Checks the forged tokens of the gateway's attack tests. Each must have exactly the flaw in its
 * name. A forgery with another flaw would be rejected because of that, and the attack test would
 * prove nothing.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, test } from "node:test";
import {
  forgeEmbeddedJwk,
  forgeHs256,
  forgeNone,
  newSigningKey,
  startIssuer,
  withClaims,
  withWrongSignature,
} from "./issuer.mjs";

const issuer = await startIssuer();
after(() => issuer.stop());

const WEB_CRYPTO = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
};

function decode(token) {
  const [header, claims] = token.split(".").map((part) => Buffer.from(part, "base64url"));
  return { header: JSON.parse(header), claims: JSON.parse(claims) };
}

/** Verifies a token with the key of its `kid`, as the gateway does. */
async function isSigned(token, keys = issuer.jwks().keys) {
  const { alg, kid } = decode(token).header;
  const jwk = keys.find((key) => key.kid === kid);
  const key = await crypto.subtle.importKey("jwk", jwk, WEB_CRYPTO[alg], false, ["verify"]);
  const at = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(at + 1), "base64url");
  return crypto.subtle.verify(WEB_CRYPTO[alg], key, signature, Buffer.from(token.slice(0, at)));
}

for (const alg of ["RS256", "ES256"]) {
  test(`only the original of an ${alg} token has a valid signature`, async () => {
    const token = issuer.mint({ x: 1 }, { alg });
    const { kid } = issuer.key(alg);
    assert.ok(await isSigned(token));
    for (const forged of [
      withWrongSignature(token),
      withClaims(token, { x: 2 }),
      issuer.mint({ x: 1 }, { alg, kid, key: newSigningKey(alg) }),
    ]) {
      assert.deepEqual(decode(forged).header, { alg, typ: "JWT", kid });
      assert.equal(await isSigned(forged), false);
    }
    assert.deepEqual(decode(withClaims(token, { x: 2 })).claims, { x: 2 });
  });
}

test("a forged token without a signature names the chosen algorithm", () => {
  const forged = forgeNone({ x: 1 }, { alg: "nOnE" });
  assert.deepEqual(decode(forged), { header: { alg: "nOnE", typ: "JWT" }, claims: { x: 1 } });
  assert.ok(forged.endsWith("."));
});

test("a forged HS256 token is signed with each published form of the public key", () => {
  const key = issuer.key();
  const jwk = issuer.jwks().keys.find(({ kid }) => kid === key.kid);
  const secrets = {
    spki: key.publicKey.export({ type: "spki", format: "pem" }),
    pkcs1: key.publicKey.export({ type: "pkcs1", format: "pem" }),
    jwk: JSON.stringify(jwk),
  };
  for (const [form, secret] of Object.entries(secrets)) {
    const forged = forgeHs256({ x: 1 }, key, { form });
    const [body, signature] = forged.split(/\.(?=[^.]*$)/);
    assert.equal(decode(forged).header.alg, "HS256");
    assert.equal(createHmac("sha256", secret).update(body).digest("base64url"), signature, form);
  }
});

test("a forged token with an embedded key is valid for that key only", async () => {
  const { kid } = issuer.key();
  const forged = forgeEmbeddedJwk({ x: 1 }, { kid });
  assert.equal(decode(forged).header.kid, kid);
  assert.equal(await isSigned(forged, [decode(forged).header.jwk]), true);
  assert.equal(await isSigned(forged), false);
});
