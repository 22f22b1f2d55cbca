/**
 * Attacks with token claims. The gateway rejects tokens with another issuer or audience, outside
 * their validity period, or with malformed claims. Some attacks send the token in
 * `Cf-Access-Jwt-Assertion`.
 */
import { describe, test } from "node:test";
import { forgeHs256, forgeNone, withWrongSignature } from "../../../harness/issuer.mjs";
import { PROJECT } from "../../recorded_gateway.mjs";
import {
  ALGORITHM,
  ANY,
  AUDIENCE,
  access,
  assertion,
  assertRejected,
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
  SCOPES,
  SUBJECT,
  smuggled,
  TOO_LONG,
  testRejectedTokens,
  UNKNOWN_KEY,
  WRONG,
  withProperty,
  workflow,
} from "./fixtures.mjs";
import { asymmetric, hmac, tokenOf } from "./forged_tokens.mjs";

describe("another issuer's or audience's token (GHSA-m732-5p4w-x69g)", () => {
  const swapped = (options) => () => issuers.partner.mint(workflow(), options?.());
  const named = (iss) => () => foreign({ iss: iss() });
  const url = () => issuers.github.url;

  testRejectedTokens([
    ["of one trusted issuer in another's name", swapped(), UNKNOWN_KEY],
    [
      "of one trusted issuer in another's name and with its kid",
      swapped(() => ({ kid: issuers.github.key().kid })),
      WRONG,
    ],
    ["of an untrusted issuer", () => issuers.attacker.mint(workflow({}, issuers.attacker)), ISSUER],
    ["of a trusted issuer in the gateway's name", named(() => "quillgate"), ISSUER],
    [
      "of a trusted issuer with the claims of a gateway token",
      () => issuers.github.mint(ownClaims(), {}),
      ISSUER,
    ],
    [
      "signed with the gateway's secret in a trusted issuer's name",
      () => own({ ...workflow(), iss: url() }),
      ISSUER,
    ],
    ["of Cloudflare Access in Authorization", access, ISSUER],
    ...[
      ["a trailing slash", (iss) => `${iss}/`],
      ["a path", (iss) => `${iss}/x`],
      ["capitals", (iss) => iss.toUpperCase()],
      ["a leading space", (iss) => ` ${iss}`],
      ["a trailing space", (iss) => `${iss} `],
      ["a trailing tab", (iss) => `${iss}\t`],
      ["a trailing newline", (iss) => `${iss}\n`],
      ["a trailing NUL", (iss) => `${iss}\u0000`],
      ["another scheme", (iss) => iss.replace("http:", "https:")],
      ["a user", (iss) => iss.replace("//", "//x@")],
      ["another host name", (iss) => iss.replace("127.0.0.1", "localhost")],
      ["a query", (iss) => `${iss}?`],
      ["a fragment", (iss) => `${iss}#`],
      ["a suffix", (iss) => `${iss}0`],
      ["its last character missing", (iss) => iss.slice(0, -1)],
    ].map(([what, change]) => [`whose iss has ${what}`, named(() => change(url())), ISSUER]),
    ["with an empty iss", named(() => ""), ISSUER],
    ["without an iss", named(() => undefined), INCOMPLETE],
    ["with an array as iss", named(() => [url()]), INCOMPLETE],
    ["with null as iss", named(() => null), INCOMPLETE],
    ...["other", "Quillgate", "quillgate ", "quillgate.evil", "quillgat", "", "*"].map((aud) => [
      `for the audience "${aud}"`,
      () => foreign({ aud }),
      AUDIENCE,
    ]),
    ["for an array of other audiences", () => foreign({ aud: ["other", "quillgate2"] }), AUDIENCE],
    ["with an empty array of audiences", () => foreign({ aud: [] }), AUDIENCE],
    ["without an audience", () => foreign({ aud: undefined }), INCOMPLETE],
    ["with null as its audience", () => foreign({ aud: null }), INCOMPLETE],
    ["with a number as its audience", () => foreign({ aud: 1 }), INCOMPLETE],
    ["with an object as its audience", () => foreign({ aud: { quillgate: true } }), INCOMPLETE],
    ["with an array among its audiences", () => foreign({ aud: [["quillgate"]] }), INCOMPLETE],
    ["with a number among its audiences", () => foreign({ aud: ["quillgate", 1] }), INCOMPLETE],
  ]);
});

describe("a token at another time", () => {
  testRejectedTokens([
    ["that expired a minute ago", () => foreign({ exp: now() - 61 }), EXPIRED],
    ["that expired in 1970", () => foreign({ exp: 1 }), EXPIRED],
    ["with an exp of -1e300", () => foreign({ exp: -1e300 }), EXPIRED],
    ["without an exp", () => foreign({ exp: undefined }), INCOMPLETE],
    ["with null as its exp", () => foreign({ exp: null }), INCOMPLETE],
    ["with a string as its exp", () => foreign({ exp: `${now() + 300}` }), INCOMPLETE],
    ["with an array as its exp", () => foreign({ exp: [now() + 300] }), INCOMPLETE],
    ["with true as its exp", () => foreign({ exp: true }), INCOMPLETE],
    [
      "with an exp too large for a number",
      () => foreignText(withProperty(workflow({ exp: undefined }), '"exp":1e999')),
      INCOMPLETE,
    ],
    ["that becomes valid in two minutes", () => foreign({ nbf: now() + 120 }), NOT_YET],
    ["issued two minutes in the future", () => foreign({ iat: now() + 120 }), NOT_YET],
    ["with a string as its nbf", () => foreign({ nbf: "0" }), INCOMPLETE],
    ["with a string as its iat", () => foreign({ iat: "0" }), INCOMPLETE],
    ["of the gateway that has just expired", () => own({ exp: now() }), EXPIRED],
    ["of the gateway that becomes valid in two minutes", () => own({ nbf: now() + 120 }), NOT_YET],
    ["of the gateway issued two minutes in the future", () => own({ iat: now() + 120 }), NOT_YET],
    [
      "of the gateway that expires in 91 days",
      () => own({ exp: now() + 91 * 86_400 }),
      /longer than 90 days/,
    ],
    ["of the gateway issued in 1970", () => own({ iat: 0 }), /longer than 90 days/],
  ]);

  test("accepts a clock difference of less than a minute", async () => {
    // The tokens grant only another project, so 403 instead of 401 shows that their times are
    // accepted.
    const elsewhere = { repository: "acme/elsewhere" };
    for (const changes of [
      { exp: now() - 30 },
      { iat: now() + 55 },
      { nbf: now() + 55 },
      { iat: undefined, nbf: undefined },
    ]) {
      await assertRejected(bearer(foreign({ ...elsewhere, ...changes })), NOT_ALLOWED);
    }
    for (const changes of [{ iat: now() + 55 }, { nbf: now() + 55 }]) {
      await assertRejected(bearer(own({ projects: [OTHER], ...changes })), NOT_ALLOWED);
    }
  });
});

describe("a token with malformed claims", () => {
  const rsa = () => asymmetric(issuers.github.key().privateKey, "sha256");
  const twice = (property) => () => foreignText(withProperty(workflow(), property));
  const ownTwice = (property) => () =>
    tokenOf({ alg: "HS256" }, withProperty(ownClaims(), property), hmac(gate.secret));
  const headTwice = (property) => () =>
    tokenOf(withProperty(header(), property), workflow(), rsa());

  testRejectedTokens([
    ["without a subject", () => foreign({ sub: undefined }), INCOMPLETE],
    ["with an empty subject", () => foreign({ sub: "" }), SUBJECT],
    ["with a number as its subject", () => foreign({ sub: 1 }), INCOMPLETE],
    ["with null as its subject", () => foreign({ sub: null }), INCOMPLETE],
    ["with an array as its subject", () => foreign({ sub: ["x"] }), INCOMPLETE],
    ["of the gateway without a subject", () => own({ sub: undefined }), INCOMPLETE],
    ["of the gateway with an empty subject", () => own({ sub: "" }), SUBJECT],
    ["of the gateway with a number as its id", () => own({ jti: 1 }), INCOMPLETE],
    ["of the gateway with a negative quota", () => own({ quota: -1 }), INCOMPLETE],
    [
      "of the gateway with a quota of an unknown policy",
      () => own({ quota: { jobs: 1 } }),
      INCOMPLETE,
    ],
    ["of the gateway with a string as projects", () => own({ projects: PROJECT }), INCOMPLETE],
    [
      "of the gateway with a number among its projects",
      () => own({ projects: [PROJECT, 1] }),
      INCOMPLETE,
    ],
    ["of the gateway with an array as its scope", () => own({ scope: SCOPES }), INCOMPLETE],
    ["with two algs", headTwice('"alg":"none"'), MALFORMED],
    ["with two kids", headTwice('"kid":"x"'), MALFORMED],
    ["with two subjects", twice('"sub":"root"'), INCOMPLETE],
    ["with two issuers", twice('"iss":"quillgate"'), INCOMPLETE],
    ["with two audiences", twice('"aud":"quillgate"'), INCOMPLETE],
    ["with two exps", twice('"exp":1'), INCOMPLETE],
    ["with two repositories", twice('"repository":"acme/docs"'), INCOMPLETE],
    [
      "with two repositories, one with an escaped name",
      twice('"repos\\u0069tory":"acme/docs"'),
      INCOMPLETE,
    ],
    ["of the gateway with two arrays of projects", ownTwice(`"projects":["${OTHER}"]`), INCOMPLETE],
    ["of the gateway with two scopes", ownTwice('"scope":"x"'), INCOMPLETE],
    ["whose claims are an array", () => foreignText("[]"), INCOMPLETE],
    ["whose claims are null", () => foreignText("null"), INCOMPLETE],
    [
      "with a second object after its claims",
      () => foreignText(`${JSON.stringify(workflow())}{}`),
      INCOMPLETE,
    ],
    [
      "whose claims are not UTF-8",
      () => tokenOf(header(), workflow(), rsa()).replace(/\.[^.]*\./, "._w."),
      ANY,
    ],
    ["whose header is an array", () => tokenOf("[]", workflow(), rsa()), MALFORMED],
    ["whose header is a string", () => tokenOf('"RS256"', workflow(), rsa()), MALFORMED],
    ["whose claims are 3,000 nested arrays", () => foreignText("[".repeat(3000)), INCOMPLETE],
    ["over 16 KiB", () => foreign({ padding: "x".repeat(13_000) }), TOO_LONG],
    ["of 64 kB", () => own({ padding: "x".repeat(48_000) }), TOO_LONG],
  ]);
});

describe("a token in Cf-Access-Jwt-Assertion", () => {
  const changed = (changes) => () => access(changes);
  testRejectedTokens(
    [
      ["of an issuer for Authorization", foreign, ISSUER],
      ["of the gateway", own, ALGORITHM],
      ["with alg none", () => forgeNone(issuers.access.accessClaims()), ALGORITHM],
      [
        "signed with HS256 and the issuer's public key",
        () => forgeHs256(issuers.access.accessClaims(), issuers.access.key()),
        ALGORITHM,
      ],
      ["with a wrong signature", () => withWrongSignature(access()), WRONG],
      [
        "signed by an attacker",
        () => issuers.attacker.mint(issuers.access.accessClaims()),
        UNKNOWN_KEY,
      ],
      ["for another application", changed({ aud: ["other"] }), AUDIENCE],
      ["that has expired", changed({ exp: now() - 61 }), EXPIRED],
      ["after the word Bearer", () => `Bearer ${access()}`, MALFORMED],
      ["followed by a second token", () => `${access()}, ${access()}`, /./],
    ],
    { credentials: assertion, field: " in Cf-Access-Jwt-Assertion" },
  );

  test("rejects two Cf-Access-Jwt-Assertion fields, even if they are the same", async () => {
    for (const second of [access(), "x"]) {
      for (const pair of [
        [access(), second],
        [second, access()],
      ]) {
        const headers = pair.map((token) => ["Cf-Access-Jwt-Assertion", token]);
        await assertRejected(smuggled(["Origin", `http://${gate.host}`], ...headers), INVALID);
      }
    }
  });

  test("rejects an Access token that no rule matches", () =>
    assertRejected(assertion(access({ email: "mallory@acme.example" })), NOT_MAPPED));
});
