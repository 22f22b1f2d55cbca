/** Tokens of another issuer, for another audience, of another time, or with malformed claims. */
import { describe, test } from "node:test";
import { forgeHs256, forgeNone, withWrongSignature } from "../../harness/issuer.mjs";
import { asymmetric, hmac, tokenOf } from "../forged.mjs";
import { PROJECT } from "../gate.mjs";
import {
  ALGORITHM,
  ANY,
  AUDIENCE,
  access,
  assertion,
  assertRefused,
  bearer,
  EXPIRED,
  foreign,
  foreignText,
  gate,
  header,
  INCOMPLETE,
  INVALID,
  ISSUER,
  issuers,
  MALFORMED,
  NOT_ALLOWED,
  NOT_MAPPED,
  NOT_YET,
  now,
  OTHER,
  own,
  ownClaims,
  refusesTokens,
  SCOPES,
  SUBJECT,
  smuggled,
  TOO_LONG,
  UNKNOWN_KEY,
  WRONG,
  withMember,
  workflow,
} from "./fixtures.mjs";

describe("another issuer's or audience's token (GHSA-m732-5p4w-x69g)", () => {
  const swapped = (options) => () => issuers.partner.mint(workflow(), options?.());
  const named = (iss) => () => foreign({ iss: iss() });
  const url = () => issuers.github.url;

  refusesTokens([
    ["one trusted issuer in another's name", swapped(), UNKNOWN_KEY],
    [
      "one trusted issuer in another's name and by its kid",
      swapped(() => ({ kid: issuers.github.key().kid })),
      WRONG,
    ],
    [
      "an attacker in his own name",
      () => issuers.attacker.mint(workflow({}, issuers.attacker)),
      ISSUER,
    ],
    ["a trusted issuer in the gateway's name", named(() => "quillgate"), ISSUER],
    [
      "a trusted issuer with the claims of the gateway's own tokens",
      () => issuers.github.mint(ownClaims(), {}),
      ISSUER,
    ],
    ["the own secret in a trusted issuer's name", () => own({ ...workflow(), iss: url() }), ISSUER],
    ["the issuer of the Access header as a bearer", access, ISSUER],
    ...[
      ["a slash", (iss) => `${iss}/`],
      ["a path", (iss) => `${iss}/x`],
      ["capitals", (iss) => iss.toUpperCase()],
      ["a space before", (iss) => ` ${iss}`],
      ["a space after", (iss) => `${iss} `],
      ["a tab after", (iss) => `${iss}\t`],
      ["a line end", (iss) => `${iss}\n`],
      ["a NUL", (iss) => `${iss}\u0000`],
      ["another scheme", (iss) => iss.replace("http:", "https:")],
      ["a user", (iss) => iss.replace("//", "//x@")],
      ["another name of the host", (iss) => iss.replace("127.0.0.1", "localhost")],
      ["a query", (iss) => `${iss}?`],
      ["a fragment", (iss) => `${iss}#`],
      ["a suffix", (iss) => `${iss}0`],
      ["a prefix only", (iss) => iss.slice(0, -1)],
    ].map(([what, change]) => [`an iss with ${what}`, named(() => change(url())), ISSUER]),
    ["an empty iss", named(() => ""), ISSUER],
    ["no iss", named(() => undefined), INCOMPLETE],
    ["a list for iss", named(() => [url()]), INCOMPLETE],
    ["a null for iss", named(() => null), INCOMPLETE],
    ...["other", "Quillgate", "quillgate ", "quillgate.evil", "quillgat", "", "*"].map((aud) => [
      `the audience "${aud}"`,
      () => foreign({ aud }),
      AUDIENCE,
    ]),
    ["a list of other audiences", () => foreign({ aud: ["other", "quillgate2"] }), AUDIENCE],
    ["an empty list of audiences", () => foreign({ aud: [] }), AUDIENCE],
    ["no audience", () => foreign({ aud: undefined }), INCOMPLETE],
    ["a null for its audience", () => foreign({ aud: null }), INCOMPLETE],
    ["a number for its audience", () => foreign({ aud: 1 }), INCOMPLETE],
    ["an object for its audience", () => foreign({ aud: { quillgate: true } }), INCOMPLETE],
    ["a list in its list of audiences", () => foreign({ aud: [["quillgate"]] }), INCOMPLETE],
    ["a number in its list of audiences", () => foreign({ aud: ["quillgate", 1] }), INCOMPLETE],
  ]);
});

describe("a token at another time", () => {
  refusesTokens([
    ["expired a minute ago", () => foreign({ exp: now() - 61 }), EXPIRED],
    ["expired long ago", () => foreign({ exp: 1 }), EXPIRED],
    ["an end before all time", () => foreign({ exp: -1e300 }), EXPIRED],
    ["no end", () => foreign({ exp: undefined }), INCOMPLETE],
    ["a null for its end", () => foreign({ exp: null }), INCOMPLETE],
    ["a text for its end", () => foreign({ exp: `${now() + 300}` }), INCOMPLETE],
    ["a list for its end", () => foreign({ exp: [now() + 300] }), INCOMPLETE],
    ["true for its end", () => foreign({ exp: true }), INCOMPLETE],
    [
      "an end beyond numbers",
      () => foreignText(withMember(workflow({ exp: undefined }), '"exp":1e999')),
      INCOMPLETE,
    ],
    ["valid in more than a minute", () => foreign({ nbf: now() + 120 }), NOT_YET],
    ["issued in more than a minute", () => foreign({ iat: now() + 120 }), NOT_YET],
    ["a text for its beginning", () => foreign({ nbf: "0" }), INCOMPLETE],
    ["a text for when it was issued", () => foreign({ iat: "0" }), INCOMPLETE],
    ["a token of the gateway expired just now", () => own({ exp: now() }), EXPIRED],
    [
      "a token of the gateway valid in more than a minute",
      () => own({ nbf: now() + 120 }),
      NOT_YET,
    ],
    [
      "a token of the gateway issued in more than a minute",
      () => own({ iat: now() + 120 }),
      NOT_YET,
    ],
    [
      "a token of the gateway of 91 days",
      () => own({ exp: now() + 91 * 86_400 }),
      /longer than 90 days/,
    ],
    ["a token of the gateway of 91 days that began", () => own({ iat: 0 }), /longer than 90 days/],
  ]);

  test("is let through by less than a minute's leeway, and by then no further", async () => {
    // For another project: that it is not 401 shows that the time was good.
    const elsewhere = { repository: "acme/elsewhere" };
    for (const changes of [
      { exp: now() - 30 },
      { iat: now() + 55 },
      { nbf: now() + 55 },
      { iat: undefined, nbf: undefined },
    ]) {
      await assertRefused(bearer(foreign({ ...elsewhere, ...changes })), NOT_ALLOWED);
    }
    for (const changes of [{ iat: now() + 55 }, { nbf: now() + 55 }]) {
      await assertRefused(bearer(own({ projects: [OTHER], ...changes })), NOT_ALLOWED);
    }
  });
});

describe("a token with malformed claims", () => {
  const rsa = () => asymmetric(issuers.github.key().privateKey, "sha256");
  const twice = (text) => () => foreignText(withMember(workflow(), text));
  const ownTwice = (text) => () =>
    tokenOf({ alg: "HS256" }, withMember(ownClaims(), text), hmac(gate.secret));
  const headTwice = (text) => () => tokenOf(withMember(header(), text), workflow(), rsa());

  refusesTokens([
    ["no subject", () => foreign({ sub: undefined }), INCOMPLETE],
    ["an empty subject", () => foreign({ sub: "" }), SUBJECT],
    ["a number for its subject", () => foreign({ sub: 1 }), INCOMPLETE],
    ["a null for its subject", () => foreign({ sub: null }), INCOMPLETE],
    ["a list for its subject", () => foreign({ sub: ["x"] }), INCOMPLETE],
    ["no subject, own", () => own({ sub: undefined }), INCOMPLETE],
    ["an empty subject, own", () => own({ sub: "" }), SUBJECT],
    ["a number for its id, own", () => own({ jti: 1 }), INCOMPLETE],
    ["a quota below zero, own", () => own({ quota: -1 }), INCOMPLETE],
    ["a quota of another policy, own", () => own({ quota: { jobs: 1 } }), INCOMPLETE],
    ["projects that are a text, own", () => own({ projects: PROJECT }), INCOMPLETE],
    ["projects that are no texts, own", () => own({ projects: [PROJECT, 1] }), INCOMPLETE],
    ["a scope that is a list, own", () => own({ scope: SCOPES }), INCOMPLETE],
    ["two algs", headTwice('"alg":"none"'), MALFORMED],
    ["two kids", headTwice('"kid":"x"'), MALFORMED],
    ["two subjects", twice('"sub":"root"'), INCOMPLETE],
    ["two issuers", twice('"iss":"quillgate"'), INCOMPLETE],
    ["two audiences", twice('"aud":"quillgate"'), INCOMPLETE],
    ["two ends", twice('"exp":1'), INCOMPLETE],
    ["two repositories", twice('"repository":"acme/docs"'), INCOMPLETE],
    [
      "two repositories, of which one is escaped",
      twice('"repos\\u0069tory":"acme/docs"'),
      INCOMPLETE,
    ],
    ["two lists of projects, own", ownTwice(`"projects":["${OTHER}"]`), INCOMPLETE],
    ["two scopes, own", ownTwice('"scope":"x"'), INCOMPLETE],
    ["claims that are a list", () => foreignText("[]"), INCOMPLETE],
    ["claims that are null", () => foreignText("null"), INCOMPLETE],
    [
      "claims with something after them",
      () => foreignText(`${JSON.stringify(workflow())}{}`),
      INCOMPLETE,
    ],
    [
      "claims that are no UTF-8",
      () => tokenOf(header(), workflow(), rsa()).replace(/\.[^.]*\./, "._w."),
      ANY,
    ],
    ["a header that is a list", () => tokenOf("[]", workflow(), rsa()), MALFORMED],
    ["a header that is a text", () => tokenOf('"RS256"', workflow(), rsa()), MALFORMED],
    ["a nest of lists", () => foreignText("[".repeat(3000)), INCOMPLETE],
    ["over 8 KiB", () => foreign({ padding: "x".repeat(7000) }), TOO_LONG],
    ["64 kB", () => own({ padding: "x".repeat(48_000) }), TOO_LONG],
  ]);
});

describe("a token of Cloudflare Access in its header", () => {
  const changed = (changes) => () => access(changes);
  refusesTokens(
    [
      ["a bearer issuer's token", foreign, ISSUER],
      ["a token of the gateway", own, ALGORITHM],
      ["alg none", () => forgeNone(issuers.access.accessClaims()), ALGORITHM],
      [
        "HS256 by its public key",
        () => forgeHs256(issuers.access.accessClaims(), issuers.access.key()),
        ALGORITHM,
      ],
      ["a wrong signature", () => withWrongSignature(access()), WRONG],
      ["an attacker's", () => issuers.attacker.mint(issuers.access.accessClaims()), UNKNOWN_KEY],
      ["another application's", changed({ aud: ["other"] }), AUDIENCE],
      ["expired", changed({ exp: now() - 61 }), EXPIRED],
      ["Bearer before it", () => `Bearer ${access()}`, MALFORMED],
      ["two in one field", () => `${access()}, ${access()}`, /./],
    ],
    assertion,
  );

  test("is refused in two fields, same or not", async () => {
    for (const second of [access(), "x"]) {
      for (const pair of [
        [access(), second],
        [second, access()],
      ]) {
        const headers = pair.map((token) => ["Cf-Access-Jwt-Assertion", token]);
        await assertRefused(smuggled(...headers), INVALID);
      }
    }
  });

  test("of somebody that no rule has, is refused", () =>
    assertRefused(assertion(access({ email: "mallory@acme.example" })), NOT_MAPPED));
});
