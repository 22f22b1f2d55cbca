/** Tokens whose signature is another's, of another algorithm, or none. */
import { generateKeyPairSync } from "node:crypto";
import { describe } from "node:test";
import { forgeHs256, forgeNone, withClaims, withWrongSignature } from "../../harness/issuer.mjs";
import { newSecret } from "../../harness/token.mjs";
import {
  asymmetric,
  constant,
  hmac,
  lengthened,
  pss,
  tokenOf,
  uncanonical,
  ZERO_SIGNATURES,
} from "../forged.mjs";
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
  refusesTokens,
  WRONG,
  workflow,
} from "./fixtures.mjs";

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

  refusesTokens([
    ...[
      ["RS256", "spki"],
      ["RS256", "pkcs1"],
      ["RS256", "jwk"],
      ["ES256", "spki"],
      ["ES256", "jwk"],
    ].map(([alg, form]) => [
      `HS256 by the ${alg} public key as ${form}`,
      () => forgeHs256(workflow(), issuers.github.key(alg), { form }),
      WRONG,
    ]),
    ["a token of the gateway by a public key's PEM", ownBy(() => publicKey("spki", "pem")), WRONG],
    [
      "a token of the gateway by that without its line end",
      ownBy(() => publicKey("spki", "pem").trim()),
      WRONG,
    ],
    ["a token of the gateway by a public key's DER", ownBy(() => publicKey("spki", "der")), WRONG],
    [
      "a token of the gateway by the key set",
      ownBy(() => JSON.stringify(issuers.github.jwks())),
      WRONG,
    ],
    ["a token of the gateway by nothing", ownBy(() => ""), WRONG],
    ["a token of the gateway by another secret", ownBy(newSecret), WRONG],
    ["RS256 that claims ES256", () => foreignWith({ alg: "ES256" }), WRONG],
    ["RS256 that claims ES256 and its key", toEs256, WRONG],
    ["ES256 that claims RS256", () => foreignWith({ alg: "RS256" }, { alg: "ES256" }), WRONG],
    ["RS256 that claims HS256", () => foreignWith({ alg: "HS256" }), WRONG],
    ["PS256 that claims RS256", asPss("RS256"), WRONG],
    ["RS512 that claims RS256", rsa("sha512", "RS256"), WRONG],
    ["PS256 by the issuer's own key", asPss("PS256"), ALGORITHM],
    ["RS384 by the issuer's own key", rsa("sha384", "RS384"), ALGORITHM],
    ["RS512 by the issuer's own key", rsa("sha512", "RS512"), ALGORITHM],
    [
      "HS384 by the own secret",
      () => ownWith({ alg: "HS384" }, hmac(gate.secret, "sha384")),
      ALGORITHM,
    ],
    [
      "HS512 by the own secret",
      () => ownWith({ alg: "HS512" }, hmac(gate.secret, "sha512")),
      ALGORITHM,
    ],
    [
      "HS512 by it that claims HS256",
      () => ownWith({ alg: "HS256" }, hmac(gate.secret, "sha512")),
      WRONG,
    ],
    ["EdDSA", eddsa, ALGORITHM],
    ...["none", "None", "NONE", "nOnE"].flatMap((alg) => [
      [`alg ${alg} without a signature`, () => forgeNone(workflow(), { alg }), ALGORITHM],
      [`alg ${alg} with a right signature`, () => foreignWith({ alg }), ALGORITHM],
      [`a token of the gateway of alg ${alg}`, () => forgeNone(ownClaims(), { alg }), ALGORITHM],
    ]),
    ...[
      ["empty", ""],
      ["in lower case", "rs256"],
      ["padded", "RS256 "],
      ["two", "RS256,HS256"],
    ].map(([what, alg]) => [`an alg that is ${what}`, () => foreignWith({ alg }), ALGORITHM]),
    ...[
      ["missing", undefined],
      ["null", null],
      ["a list", ["RS256"]],
      ["a number", 256],
      ["an object", { RS256: true }],
    ].map(([what, alg]) => [`an alg that is ${what}`, () => foreignWith({ alg }), MALFORMED]),
  ]);
});

describe("a signature that is none (LiteLLM issue 20500: claims read without verifying)", () => {
  const ends = (token, change) => () => token().replace(/[^.]*$/, change);
  const es256 = (sign) => () => tokenOf(header({}, "ES256"), workflow(), sign());
  const der = () => asymmetric(issuers.github.key("ES256").privateKey, "sha256");

  refusesTokens([
    ["one bit changed, RS256", () => withWrongSignature(foreign()), WRONG],
    ["one bit changed, ES256", () => withWrongSignature(foreign({}, { alg: "ES256" })), WRONG],
    ["one bit changed, HS256", () => withWrongSignature(own()), WRONG],
    ["other claims, RS256", () => withClaims(foreign(), workflow({ actor: "root" })), WRONG],
    ["other claims, HS256", () => withClaims(own(), ownClaims({ sub: "root" })), WRONG],
    ["zero twice, ES256 (CVE-2022-21449)", es256(() => constant(ZERO_SIGNATURES.zero)), WRONG],
    ["the order twice, ES256", es256(() => constant(ZERO_SIGNATURES.order)), WRONG],
    ["ES256 in DER", es256(der), WRONG],
    ["a zero byte before it", ends(foreign, lengthened), WRONG],
    ["a fourth part", () => `${foreign()}.x`, ANY],
    ["a full stop at its end", () => `${foreign()}.`, ANY],
    ["the five parts of an encrypted one", () => `${foreign()}.x.x`, ANY],
  ]);

  for (const [form, token] of [
    ["RS256", foreign],
    ["ES256", () => foreign({}, { alg: "ES256" })],
    ["HS256", own],
  ]) {
    refusesTokens([
      [`none at all, ${form}`, ends(token, ""), WRONG],
      [`padding, ${form}`, ends(token, "$&="), MALFORMED],
      [`double padding, ${form}`, ends(token, "$&=="), MALFORMED],
      [
        `a space within, ${form}`,
        ends(token, (text) => `${text.slice(0, 9)} ${text.slice(9)}`),
        MALFORMED,
      ],
      [
        `a tab within, ${form}`,
        ends(token, (text) => `${text.slice(0, 9)}\t${text.slice(9)}`),
        MALFORMED,
      ],
      [`garbage after it, ${form}`, ends(token, "$&!"), MALFORMED],
      [`a comma after it, ${form}`, ends(token, "$&,"), MALFORMED],
      [`a NUL in disguise after it, ${form}`, ends(token, "$&%00"), MALFORMED],
      [`other spare bits, ${form}`, ends(token, uncanonical), MALFORMED],
      [`another alphabet, ${form}`, ends(token, "+$&"), MALFORMED],
    ]);
  }
});
