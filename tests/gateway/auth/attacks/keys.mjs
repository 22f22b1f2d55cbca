/**
 * Attacks with keys. The gateway rejects tokens that contain a key, name a wrong key, or have an
 * unsupported `crit` or `typ`. It also rejects signatures with published keys that it must not use.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forgeEmbeddedJwk, forgeHs256, jwkOf, signToken } from "../../../harness/issuer.mjs";
import {
  ALGORITHM,
  BRINGS_KEY,
  foreignWith,
  issuers,
  KIND,
  NO_KEY,
  OTHER_ALGORITHM,
  OTHER_TYPE,
  odd,
  ownWith,
  TOO_LONG,
  testRejectedTokens,
  twins,
  UNKNOWN_KEY,
  WRONG,
  workflow,
} from "./fixtures.mjs";
import { asymmetric, constant, encoded, hmac, ownMessage, tokenOf } from "./forged_tokens.mjs";

describe("a header that leads to another key", () => {
  const attackers = () => issuers.attacker.key();
  const validKid = () => issuers.github.key().kid;
  const forged = (changes) => () => signToken(workflow(), attackers(), changes());
  const kid = (value) => () => foreignWith({ kid: value() });
  const der = () => attackers().publicKey.export({ type: "spki", format: "der" });
  const jwk = { kty: "oct", k: encoded("x".repeat(32)) };
  const twin = (at) => () => signToken(workflow({}, issuers.twins), twins[at]);

  testRejectedTokens([
    ...[
      ["empty", ""],
      ["a number", 1],
      ["an array", ["a"]],
      ["an object", { kid: "a" }],
      ["true", true],
      ["257 bytes long", "x".repeat(257)],
    ].map(([what, value]) => [`with a kid that is ${what}`, kid(() => value), NO_KEY]),
    ...[
      ["a file path", "../../../../../../dev/null"],
      ["a file URL", "file:///dev/null"],
      ["SQL", "x' UNION SELECT 'AAAA' --"],
      ["a command", "key;$(id)|id"],
      ["split by a line break", "a\r\nX-Injected: 1"],
      ["split by a NUL", "a\u0000b"],
      ["__proto__", "__proto__"],
      ["constructor", "constructor"],
      ["an asterisk", "*"],
      ["the index of a key", "0"],
    ].map(([what, value]) => [`with a kid that is ${what}`, kid(() => value), UNKNOWN_KEY]),
    ["with a kid of 20 kB", kid(() => "x".repeat(20_000)), TOO_LONG],
    [
      "with the URL of the attacker's key set as its kid",
      kid(() => issuers.attacker.jwksUrl),
      UNKNOWN_KEY,
    ],
    ["with another issuer's kid", kid(() => issuers.partner.key().kid), UNKNOWN_KEY],
    ["with a valid kid in capitals", kid(() => validKid().toUpperCase()), UNKNOWN_KEY],
    ["with a valid kid followed by a space", kid(() => `${validKid()} `), UNKNOWN_KEY],
    ["with a truncated kid", kid(() => validKid().slice(0, -1)), UNKNOWN_KEY],
    [
      "signed with RS256 but with the ES256 key's kid",
      kid(() => issuers.github.key("ES256").kid),
      OTHER_ALGORITHM,
    ],
    [
      "signed with ES256 but with the RS256 key's kid",
      () => foreignWith({ kid: validKid() }, { alg: "ES256" }),
      OTHER_ALGORITHM,
    ],
    ["signed with the first of two keys with the same kid", twin(0), /two keys/],
    ["signed with the second of two keys with the same kid", twin(1), /two keys/],
    ["signed with an attacker's key", forged(() => ({})), UNKNOWN_KEY],
    [
      "signed with an attacker's key but with a valid kid",
      forged(() => ({ kid: validKid() })),
      WRONG,
    ],
    ["with an embedded jwk", () => forgeEmbeddedJwk(workflow()), BRINGS_KEY],
    [
      "with an embedded jwk and a valid kid",
      () => forgeEmbeddedJwk(workflow(), { kid: validKid() }),
      BRINGS_KEY,
    ],
    [
      "with a jwk beside its valid signature",
      () => foreignWith({ jwk: jwkOf(attackers()) }),
      BRINGS_KEY,
    ],
    ["with a jku", forged(() => ({ jku: issuers.attacker.jwksUrl })), BRINGS_KEY],
    ["with an x5u", forged(() => ({ x5u: issuers.attacker.jwksUrl })), BRINGS_KEY],
    ["with an x5c", forged(() => ({ x5c: [der().toString("base64")] })), BRINGS_KEY],
    [
      "of the gateway with an embedded secret",
      () => ownWith({ alg: "HS256", jwk }, hmac("x".repeat(32))),
      WRONG,
    ],
    ...[
      ["a crit header", { crit: ["b64"], b64: false }],
      ["an empty crit header", { crit: [] }],
      ["the typ dpop+jwt", { typ: "dpop+jwt" }],
      ["the typ JWE", { typ: "JWE" }],
      ["a typ that is a number", { typ: 1 }],
    ].flatMap(([what, changes]) => [
      [`with ${what}`, () => foreignWith(changes), KIND],
      [`of the gateway with ${what}`, () => ownWith({ alg: "HS256", ...changes }), KIND],
    ]),
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
