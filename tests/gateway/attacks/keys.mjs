/** Tokens that bring or name another key, and published keys that must not verify. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forgeEmbeddedJwk, forgeHs256, jwkOf, signToken } from "../../harness/issuer.mjs";
import { asymmetric, constant, encoded, hmac, ownMessage, tokenOf } from "../forged.mjs";
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
  refusesTokens,
  TOO_LONG,
  twins,
  UNKNOWN_KEY,
  WRONG,
  workflow,
} from "./fixtures.mjs";

describe("a header that leads to another key", () => {
  const attackers = () => issuers.attacker.key();
  const trueKid = () => issuers.github.key().kid;
  const forged = (changes) => () => signToken(workflow(), attackers(), changes());
  const kid = (value) => () => foreignWith({ kid: value() });
  const der = () => attackers().publicKey.export({ type: "spki", format: "der" });
  const jwk = { kty: "oct", k: encoded("x".repeat(32)) };
  const twin = (at) => () => signToken(workflow({}, issuers.twins), twins[at]);

  refusesTokens([
    ...[
      ["missing", undefined],
      ["empty", ""],
      ["a number", 1],
      ["a list", ["a"]],
      ["an object", { kid: "a" }],
      ["null", null],
      ["true", true],
      ["257 bytes long", "x".repeat(257)],
    ].map(([what, value]) => [`a kid that is ${what}`, kid(() => value), NO_KEY]),
    ...[
      ["a path", "../../../../../../dev/null"],
      ["a file", "file:///dev/null"],
      ["SQL", "x' UNION SELECT 'AAAA' --"],
      ["a command", "key;$(id)|id"],
      ["two lines", "a\r\nX-Injected: 1"],
      ["cut by a NUL", "a\u0000b"],
      ["__proto__", "__proto__"],
      ["constructor", "constructor"],
      ["a star", "*"],
      ["a key's index", "0"],
    ].map(([what, value]) => [`a kid that is ${what}`, kid(() => value), UNKNOWN_KEY]),
    ["a kid of 10 kB", kid(() => "x".repeat(10_000)), TOO_LONG],
    ["a kid that is the attacker's key set", kid(() => issuers.attacker.jwksUrl), UNKNOWN_KEY],
    ["another issuer's kid", kid(() => issuers.partner.key().kid), UNKNOWN_KEY],
    ["a true kid in capitals", kid(() => trueKid().toUpperCase()), UNKNOWN_KEY],
    ["a true kid and a space", kid(() => `${trueKid()} `), UNKNOWN_KEY],
    ["a true kid cut short", kid(() => trueKid().slice(0, -1)), UNKNOWN_KEY],
    ["RS256 by ES256's kid", kid(() => issuers.github.key("ES256").kid), OTHER_ALGORITHM],
    [
      "ES256 by RS256's kid",
      () => foreignWith({ kid: trueKid() }, { alg: "ES256" }),
      OTHER_ALGORITHM,
    ],
    ["the first of two keys of one kid", twin(0), /two keys/],
    ["the second of two keys of one kid", twin(1), /two keys/],
    ["an attacker's key", forged(() => ({})), UNKNOWN_KEY],
    ["an attacker's key by a true kid", forged(() => ({ kid: trueKid() })), WRONG],
    ["an embedded jwk", () => forgeEmbeddedJwk(workflow()), BRINGS_KEY],
    [
      "an embedded jwk by a true kid",
      () => forgeEmbeddedJwk(workflow(), { kid: trueKid() }),
      BRINGS_KEY,
    ],
    ["a true token with a jwk", () => foreignWith({ jwk: jwkOf(attackers()) }), BRINGS_KEY],
    ["a jku", forged(() => ({ jku: issuers.attacker.jwksUrl })), BRINGS_KEY],
    ["an x5u", forged(() => ({ x5u: issuers.attacker.jwksUrl })), BRINGS_KEY],
    ["an x5c", forged(() => ({ x5c: [der().toString("base64")] })), BRINGS_KEY],
    [
      "a token of the gateway with its secret",
      () => ownWith({ alg: "HS256", jwk }, hmac("x".repeat(32))),
      WRONG,
    ],
    ...[
      ["a crit", { crit: ["b64"], b64: false }],
      ["an empty crit", { crit: [] }],
      ["typ dpop+jwt", { typ: "dpop+jwt" }],
      ["typ JWE", { typ: "JWE" }],
      ["a typ that is a number", { typ: 1 }],
    ].flatMap(([what, changes]) => [
      [what, () => foreignWith(changes), KIND],
      [`${what} in a token of the gateway`, () => ownWith({ alg: "HS256", ...changes }), KIND],
    ]),
  ]);

  test("has brought nobody to the attacker's keys", () => {
    assert.equal(issuers.attacker.jwksRequests, 0);
  });
});

describe("a published key that must not verify", () => {
  const claims = () => workflow({}, issuers.odd);
  const by = (kid) => () => signToken(claims(), { ...odd.rsa, kid });
  const signed = (kid, alg, sign) => () => tokenOf({ alg, kid }, claims(), sign);
  const rs512 = asymmetric(odd.rsa.privateKey, "sha512");

  refusesTokens([
    ["one for encryption", by("encrypts"), /not for signatures/],
    ["one that may only sign", by("signs"), /not for signatures/],
    ["one for another algorithm", by("rs512"), OTHER_ALGORITHM],
    ["one with an even exponent", by("even"), /key is malformed/],
    ["one whose exponent is 1", signed("one", "RS256", ownMessage), /key is malformed/],
    ["one of 1,024 bits", () => signToken(claims(), { ...odd.weak, kid: "weak" }), WRONG],
    ["one of another curve", signed("p384", "ES256", constant(Buffer.alloc(64, 1))), OTHER_TYPE],
    ["one that is no point", signed("nowhere", "ES256", constant(Buffer.alloc(64, 1))), WRONG],
    ["a secret one, as RS256", by("oct"), OTHER_ALGORITHM],
    ["a secret one, as HS256", signed("oct", "HS256", hmac("known to all")), WRONG],
    // GHSA-f67f-6cw9-8mq4: where the key leaves its algorithm open, the token must not choose.
    ["HS256 by one without alg", () => forgeHs256(claims(), { ...odd.rsa, kid: "bare" }), WRONG],
    ["RS512 by one without alg", signed("bare", "RS512", rs512), ALGORITHM],
    ["RS512 as RS256 by one without alg", signed("bare", "RS256", rs512), WRONG],
  ]);
});
