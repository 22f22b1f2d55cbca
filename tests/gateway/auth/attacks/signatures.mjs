import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  forgeEmbeddedJwk,
  forgeHs256,
  forgeNone,
  signToken,
  withClaims,
  withWrongSignature,
} from "../../../harness/issuer.mjs";
import { newSecret } from "../../../harness/token.mjs";
import {
  ALGORITHM,
  BRINGS_KEY,
  foreign,
  foreignWith,
  gate,
  header,
  issuers,
  OTHER_ALGORITHM,
  OTHER_TYPE,
  odd,
  own,
  ownClaims,
  ownWith,
  testRejectedTokens,
  twins,
  UNKNOWN_KEY,
  WRONG,
  workflow,
} from "./fixtures.mjs";
import {
  asymmetric,
  constant,
  hmac,
  lengthened,
  ownMessage,
  pss,
  tokenOf,
  ZERO_SIGNATURES,
} from "./forged_tokens.mjs";

describe("algorithm confusion (GHSA-f67f-6cw9-8mq4, GHSA-3vhc-576x-3qv4)", () => {
  const publicKey = (type, format) => issuers.github.key().publicKey.export({ type, format });
  const ownBy = (secret) => () => ownWith(header({ alg: "HS256" }), hmac(secret()));
  const rsa = (hash, alg) => () =>
    tokenOf(header({ alg }), workflow(), asymmetric(issuers.github.key().privateKey, hash));
  const asPss = (alg) => () =>
    tokenOf(header({ alg }), workflow(), pss(issuers.github.key().privateKey));
  const toEs256 = () => foreignWith({ alg: "ES256", kid: issuers.github.key("ES256").kid });

  testRejectedTokens([
    ...[
      ["RS256", "spki"],
      ["RS256", "pkcs1"],
      ["RS256", "jwk"],
      ["ES256", "spki"],
      ["ES256", "jwk"],
    ].map(([alg, form]) => [
      `signed with HS256 and the ${alg} public key as ${form}`,
      () => forgeHs256(workflow(), issuers.github.key(alg), { form }),
      WRONG,
    ]),
    ["of the gateway signed with a public key's PEM", ownBy(() => publicKey("spki", "pem")), WRONG],
    ["of the gateway signed with another secret", ownBy(newSecret), WRONG],
    ["signed with RS256 but labelled ES256", () => foreignWith({ alg: "ES256" }), WRONG],
    ["signed with RS256 but labelled ES256 with that key's kid", toEs256, WRONG],
    [
      "signed with ES256 but labelled RS256",
      () => foreignWith({ alg: "RS256" }, { alg: "ES256" }),
      WRONG,
    ],
    ["signed with RS256 but labelled HS256", () => foreignWith({ alg: "HS256" }), WRONG],
    ["signed with PS256 but labelled RS256", asPss("RS256"), WRONG],
    ["signed with RS512 but labelled RS256", rsa("sha512", "RS256"), WRONG],
    [
      "signed with HS512 and the gateway's secret but labelled HS256",
      () => ownWith({ alg: "HS256" }, hmac(gate.secret, "sha512")),
      WRONG,
    ],
    ["with alg none and no signature", () => forgeNone(workflow()), ALGORITHM],
    ["with alg none and a valid signature", () => foreignWith({ alg: "none" }), ALGORITHM],
    ["of the gateway with alg none", () => forgeNone(ownClaims()), ALGORITHM],
  ]);
});

describe("a missing or changed signature (LiteLLM issue 20500: claims read without verifying)", () => {
  const ends = (token, change) => () => token().replace(/[^.]*$/, change);
  const es256 = (sign) => () => tokenOf(header({}, "ES256"), workflow(), sign());
  const der = () => asymmetric(issuers.github.key("ES256").privateKey, "sha256");

  testRejectedTokens([
    ["with one changed bit in its RS256 signature", () => withWrongSignature(foreign()), WRONG],
    [
      "with one changed bit in its ES256 signature",
      () => withWrongSignature(foreign({}, { alg: "ES256" })),
      WRONG,
    ],
    ["with one changed bit in its HS256 signature", () => withWrongSignature(own()), WRONG],
    [
      "with other claims under its RS256 signature",
      () => withClaims(foreign(), workflow({ actor: "root" })),
      WRONG,
    ],
    [
      "with other claims under its HS256 signature",
      () => withClaims(own(), ownClaims({ sub: "root" })),
      WRONG,
    ],
    [
      "with two zeros as its ES256 signature (CVE-2022-21449)",
      es256(() => constant(ZERO_SIGNATURES.zero)),
      WRONG,
    ],
    [
      "with twice the curve's order as its ES256 signature",
      es256(() => constant(ZERO_SIGNATURES.order)),
      WRONG,
    ],
    ["with an ES256 signature in DER", es256(der), WRONG],
    ["with a zero byte before its signature", ends(foreign, lengthened), WRONG],
  ]);
});

describe("a header that leads to another key", () => {
  const attackers = () => issuers.attacker.key();
  const validKid = () => issuers.github.key().kid;
  const forged = (changes) => () => signToken(workflow(), attackers(), changes());
  const twin = (at) => () => signToken(workflow({}, issuers.twins), twins[at]);

  testRejectedTokens([
    [
      "signed with ES256 but with the RS256 key's kid",
      () => foreignWith({ kid: validKid() }, { alg: "ES256" }),
      OTHER_ALGORITHM,
    ],
    ["signed with the second of two keys with the same kid", twin(1), /two keys/],
    ["signed with an attacker's key", forged(() => ({})), UNKNOWN_KEY],
    [
      "signed with an attacker's key but with a valid kid",
      forged(() => ({ kid: validKid() })),
      WRONG,
    ],
    ["with an embedded jwk", () => forgeEmbeddedJwk(workflow()), BRINGS_KEY],
    ["with a jku", forged(() => ({ jku: issuers.attacker.jwksUrl })), BRINGS_KEY],
  ]);

  test("never fetches the attacker's key set because of a forged header", () => {
    assert.equal(issuers.attacker.jwksRequests, 0);
  });
});

describe("a published key that the gateway must not use", () => {
  const claims = () => workflow({}, issuers.odd);
  const signedByOdd = (kid) => () => signToken(claims(), { ...odd.rsa, kid });
  const signed = (kid, alg, sign) => () => tokenOf({ alg, kid }, claims(), sign);
  const rs512 = asymmetric(odd.rsa.privateKey, "sha512");

  testRejectedTokens([
    ["signed with a published key for encryption", signedByOdd("encrypts"), /not for signatures/],
    ["signed with a published key that may only sign", signedByOdd("signs"), /not for signatures/],
    ["signed with a published key for another algorithm", signedByOdd("rs512"), OTHER_ALGORITHM],
    ["signed with a published key with an even exponent", signedByOdd("even"), /key is malformed/],
    [
      "signed with a published key with an exponent of 1",
      signed("one", "RS256", ownMessage),
      /key is malformed/,
    ],
    [
      "signed with a published key of 1,024 bits",
      () => signToken(claims(), { ...odd.weak, kid: "weak" }),
      WRONG,
    ],
    [
      "signed with a published key on another curve",
      signed("p384", "ES256", constant(Buffer.alloc(64, 1))),
      OTHER_TYPE,
    ],
    [
      "signed with a published key that is not on its curve",
      signed("nowhere", "ES256", constant(Buffer.alloc(64, 1))),
      WRONG,
    ],
    ["signed with RS256 and the kid of a published secret", signedByOdd("oct"), OTHER_ALGORITHM],
    [
      "signed with HS256 and a published secret",
      signed("oct", "HS256", hmac("known to all")),
      WRONG,
    ],
    // GHSA-f67f-6cw9-8mq4: the token must not choose the algorithm of a key without alg.
    [
      "signed with HS256 and a published key without alg",
      () => forgeHs256(claims(), { ...odd.rsa, kid: "bare" }),
      WRONG,
    ],
    [
      "signed with RS512 and a published key without alg",
      signed("bare", "RS512", rs512),
      ALGORITHM,
    ],
    [
      "signed with RS512 but labelled RS256, and a published key without alg",
      signed("bare", "RS256", rs512),
      WRONG,
    ],
  ]);
});
