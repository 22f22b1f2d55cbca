/**
 * Attacks on token signatures. The gateway rejects tokens that are unsigned, changed after signing,
 * or signed with a wrong key or algorithm. It also rejects tokens with an `alg` that does not match
 * the signature.
 */
import { generateKeyPairSync } from "node:crypto";
import { describe } from "node:test";
import { forgeHs256, forgeNone, withClaims, withWrongSignature } from "../../../harness/issuer.mjs";
import { newSecret } from "../../../harness/token.mjs";
import {
  ALGORITHM,
  ANY,
  foreign,
  foreignWith,
  gate,
  header,
  issuers,
  MALFORMED,
  own,
  ownClaims,
  ownWith,
  testRejectedTokens,
  WRONG,
  workflow,
} from "./fixtures.mjs";
import {
  asymmetric,
  constant,
  hmac,
  lengthened,
  pss,
  tokenOf,
  uncanonical,
  ZERO_SIGNATURES,
} from "./forged_tokens.mjs";

describe("algorithm confusion (GHSA-f67f-6cw9-8mq4, GHSA-3vhc-576x-3qv4)", () => {
  const publicKey = (type, format) => issuers.github.key().publicKey.export({ type, format });
  const ownBy = (secret) => () => ownWith(header({ alg: "HS256" }), hmac(secret()));
  const rsa = (hash, alg) => () =>
    tokenOf(header({ alg }), workflow(), asymmetric(issuers.github.key().privateKey, hash));
  const asPss = (alg) => () =>
    tokenOf(header({ alg }), workflow(), pss(issuers.github.key().privateKey));
  const eddsa = () =>
    tokenOf(
      header({ alg: "EdDSA" }),
      workflow(),
      asymmetric(generateKeyPairSync("ed25519").privateKey),
    );
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
    [
      "of the gateway signed with a public key's PEM without its newline",
      ownBy(() => publicKey("spki", "pem").trim()),
      WRONG,
    ],
    ["of the gateway signed with a public key's DER", ownBy(() => publicKey("spki", "der")), WRONG],
    [
      "of the gateway signed with the key set",
      ownBy(() => JSON.stringify(issuers.github.jwks())),
      WRONG,
    ],
    ["of the gateway signed with an empty secret", ownBy(() => ""), WRONG],
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
    ["signed with PS256 and the issuer's own key", asPss("PS256"), ALGORITHM],
    ["signed with RS384 and the issuer's own key", rsa("sha384", "RS384"), ALGORITHM],
    ["signed with RS512 and the issuer's own key", rsa("sha512", "RS512"), ALGORITHM],
    [
      "signed with HS384 and the gateway's secret",
      () => ownWith({ alg: "HS384" }, hmac(gate.secret, "sha384")),
      ALGORITHM,
    ],
    [
      "signed with HS512 and the gateway's secret",
      () => ownWith({ alg: "HS512" }, hmac(gate.secret, "sha512")),
      ALGORITHM,
    ],
    [
      "signed with HS512 and the gateway's secret but labelled HS256",
      () => ownWith({ alg: "HS256" }, hmac(gate.secret, "sha512")),
      WRONG,
    ],
    ["signed with EdDSA", eddsa, ALGORITHM],
    ...["none", "None", "NONE", "nOnE"].flatMap((alg) => [
      [`with alg ${alg} and no signature`, () => forgeNone(workflow(), { alg }), ALGORITHM],
      [`with alg ${alg} and a valid signature`, () => foreignWith({ alg }), ALGORITHM],
      [`of the gateway with alg ${alg}`, () => forgeNone(ownClaims(), { alg }), ALGORITHM],
    ]),
    ...[
      ["empty", ""],
      ["in lower case", "rs256"],
      ["padded", "RS256 "],
      ["a list of two algorithms", "RS256,HS256"],
    ].map(([what, alg]) => [`with an alg that is ${what}`, () => foreignWith({ alg }), ALGORITHM]),
    ...[
      ["missing", undefined],
      ["null", null],
      ["an array", ["RS256"]],
      ["a number", 256],
      ["an object", { RS256: true }],
    ].map(([what, alg]) => [`with an alg that is ${what}`, () => foreignWith({ alg }), MALFORMED]),
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
    ["with a fourth part", () => `${foreign()}.x`, ANY],
    ["with a trailing full stop", () => `${foreign()}.`, ANY],
    ["with the five parts of an encrypted token", () => `${foreign()}.x.x`, ANY],
  ]);

  for (const [form, token] of [
    ["RS256", foreign],
    ["ES256", () => foreign({}, { alg: "ES256" })],
    ["HS256", own],
  ]) {
    testRejectedTokens([
      [`without its ${form} signature`, ends(token, ""), WRONG],
      [`with padding after its ${form} signature`, ends(token, "$&="), MALFORMED],
      [`with double padding after its ${form} signature`, ends(token, "$&=="), MALFORMED],
      [
        `with a space within its ${form} signature`,
        ends(token, (signature) => `${signature.slice(0, 9)} ${signature.slice(9)}`),
        MALFORMED,
      ],
      [
        `with a tab within its ${form} signature`,
        ends(token, (signature) => `${signature.slice(0, 9)}\t${signature.slice(9)}`),
        MALFORMED,
      ],
      [`with an exclamation mark after its ${form} signature`, ends(token, "$&!"), MALFORMED],
      [`with a comma after its ${form} signature`, ends(token, "$&,"), MALFORMED],
      [`with an encoded NUL after its ${form} signature`, ends(token, "$&%00"), MALFORMED],
      [`with other unused bits in its ${form} signature`, ends(token, uncanonical), MALFORMED],
      [`with a plus sign before its ${form} signature`, ends(token, "+$&"), MALFORMED],
    ]);
  }
});
