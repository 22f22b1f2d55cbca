import assert from "node:assert/strict";
import { createHash, createHmac, sign as signBytes } from "node:crypto";
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
  assertRejected,
  bearer,
  foreign,
  gate,
  INVALID,
  issuers,
  odd,
  own,
  ownClaims,
  SAMPLE,
  twins,
  workflow,
} from "./fixtures.mjs";

/** An RS256 signature has this prefix before a SHA-256 digest (RFC 8017, section 9.2). */
const SHA256_PREFIX = Buffer.from("3031300d060960864801650304020105000420", "hex");
/** The order of the P-256 group. As r or s of a signature, this number is congruent to zero. */
const ORDER = Buffer.from(
  "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
  "hex",
);

const encoded = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

/** Returns a token with exactly this header and these claims. */
function tokenOf(header, claims, sign) {
  const body = `${encoded(header)}.${encoded(claims)}`;
  return `${body}.${Buffer.from(sign(body)).toString("base64url")}`;
}

/** Returns a function that signs a body with HMAC. */
const hmac =
  (secret, hash = "sha256") =>
  (body) =>
    createHmac(hash, secret).update(body).digest();

/** Returns a function that signs a body with a private key and these options of Node.js. */
const asymmetric = (key, hash, options) => (body) =>
  signBytes(hash, Buffer.from(body), { key, ...options });

/** Returns a function that signs a body with RSASSA-PSS, as PS256 does. */
const pss = (key) => asymmetric(key, "sha256", { padding: 6, saltLength: 32 });

/** Returns a function that returns `bytes` as the signature of every body. */
const constant = (bytes) => () => bytes;

/** These ES256 signatures verify under every key if the verifier does not reject zero. */
const ZERO_SIGNATURES = { zero: Buffer.alloc(64), order: Buffer.concat([ORDER, ORDER]) };

/** Returns a signature that is valid under any 2,048-bit RSA key with an exponent of 1. */
function ownMessage(body) {
  const digest = createHash("sha256").update(body).digest();
  const end = Buffer.concat([Buffer.from([0]), SHA256_PREFIX, digest]);
  return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(254 - end.length, 0xff), end]);
}

function lengthened(signature) {
  const bytes = Buffer.from(signature, "base64url");
  return Buffer.concat([Buffer.alloc(1), bytes]).toString("base64url");
}

const ALGORITHM = /must be signed with HS256, or by a trusted issuer with RS256 or ES256/;
const BRINGS_KEY = /brings its own key/;
const OTHER_ALGORITHM = /key is for another algorithm/;

/** Mints a trusted issuer's token with changed header parameters. */
const foreignWith = (header, { alg } = {}) => foreign({}, { header, alg });

/** Mints the gateway's own token with another header. */
const ownWith = (header, sign) => tokenOf(header, ownClaims(), sign);

const header = (changes, alg = "RS256") => ({
  ...{ alg, typ: "JWT", kid: issuers.github.key(alg).kid },
  ...changes,
});

function testRejectedTokens(rows) {
  for (const [what, token, reason = /signature is wrong/] of rows) {
    test(`rejects a token ${what}`, async () => {
      const problems = await assertRejected(bearer(token()), INVALID, SAMPLE);
      for (const { detail } of problems) assert.match(detail, reason);
    });
  }
}

describe("algorithm confusion (GHSA-f67f-6cw9-8mq4, GHSA-3vhc-576x-3qv4)", () => {
  const publicKey = (type, format) => issuers.github.key().publicKey.export({ type, format });
  const ownBy = (secret) => () => ownWith(header({ alg: "HS256" }), hmac(secret()));
  const rs256 = (sign) => () =>
    tokenOf(header(), workflow(), sign(issuers.github.key().privateKey));
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
    ]),
    ["of the gateway signed with a public key's PEM", ownBy(() => publicKey("spki", "pem"))],
    ["of the gateway signed with another secret", ownBy(newSecret)],
    ["signed with RS256 but labelled ES256", () => foreignWith({ alg: "ES256" })],
    ["signed with RS256 but labelled ES256 with that key's kid", toEs256],
    ["signed with ES256 but labelled RS256", () => foreignWith({ alg: "RS256" }, { alg: "ES256" })],
    ["signed with RS256 but labelled HS256", () => foreignWith({ alg: "HS256" })],
    ["signed with PS256 but labelled RS256", rs256(pss)],
    ["signed with RS512 but labelled RS256", rs256((key) => asymmetric(key, "sha512"))],
    [
      "signed with HS512 and the gateway's secret but labelled HS256",
      () => ownWith({ alg: "HS256" }, hmac(gate.secret, "sha512")),
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
    ["with one changed bit in its RS256 signature", () => withWrongSignature(foreign())],
    [
      "with one changed bit in its ES256 signature",
      () => withWrongSignature(foreign({}, { alg: "ES256" })),
    ],
    ["with one changed bit in its HS256 signature", () => withWrongSignature(own())],
    [
      "with other claims under its RS256 signature",
      () => withClaims(foreign(), workflow({ actor: "root" })),
    ],
    [
      "with other claims under its HS256 signature",
      () => withClaims(own(), ownClaims({ sub: "root" })),
    ],
    [
      "with two zeros as its ES256 signature (CVE-2022-21449)",
      es256(() => constant(ZERO_SIGNATURES.zero)),
    ],
    [
      "with twice the curve's order as its ES256 signature",
      es256(() => constant(ZERO_SIGNATURES.order)),
    ],
    ["with an ES256 signature in DER", es256(der)],
    ["with a zero byte before its signature", ends(foreign, lengthened)],
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
    ["signed with an attacker's key", forged(() => ({})), /kid is not one of its issuer's keys/],
    ["signed with an attacker's key but with a valid kid", forged(() => ({ kid: validKid() }))],
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
    ],
    [
      "signed with a published key on another curve",
      signed("p384", "ES256", constant(Buffer.alloc(64, 1))),
      /key is of another type/,
    ],
    [
      "signed with a published key that is not on its curve",
      signed("nowhere", "ES256", constant(Buffer.alloc(64, 1))),
    ],
    ["signed with RS256 and the kid of a published secret", signedByOdd("oct"), OTHER_ALGORITHM],
    ["signed with HS256 and a published secret", signed("oct", "HS256", hmac("known to all"))],
    // GHSA-f67f-6cw9-8mq4: the token must not choose the algorithm of a key without alg.
    [
      "signed with HS256 and a published key without alg",
      () => forgeHs256(claims(), { ...odd.rsa, kid: "bare" }),
    ],
    [
      "signed with RS512 and a published key without alg",
      signed("bare", "RS512", rs512),
      ALGORITHM,
    ],
    [
      "signed with RS512 but labelled RS256, and a published key without alg",
      signed("bare", "RS256", rs512),
    ],
  ]);
});
