/**
 * Tokens and requests that pretend: forged, swapped, smuggled. Each is refused, nothing goes
 * upstream, and nothing is told. Where a published advisory of another gateway describes an
 * attack, the test names it.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  forgeEmbeddedJwk,
  forgeHs256,
  forgeNone,
  jwkOf,
  signToken,
  startIssuer,
  withClaims,
  withWrongSignature,
} from "../harness/issuer.mjs";
import { LOGS } from "../harness/process.mjs";
import { mintToken, newSecret } from "../harness/token.mjs";
import {
  asymmetric,
  constant,
  encoded,
  hmac,
  lengthened,
  oddKeys,
  ownMessage,
  pss,
  tokenOf,
  twinKeys,
  uncanonical,
  ZERO_SIGNATURES,
} from "./forged.mjs";
import { assertProblem, EVERY_SCOPE, JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

const OTHER = "other-docs";
const LIST = `/v2/agent/${PROJECT}/jobs`;
const SCOPES = EVERY_SCOPE.split(" ");
/** In claims of every token: no answer and no line of the log may hold it. */
const CANARY = `claim-canary-${randomBytes(8).toString("hex")}`;

const REALM = 'Bearer realm="quillgate"';
const INVALID = [401, "invalid-token", `${REALM}, error="invalid_token"`];
const MISSING = [401, "missing-token", REALM];
const NOT_MAPPED = [403, "identity-not-mapped", `${REALM}, error="insufficient_scope"`];
const NOT_ALLOWED = [403, "project-not-allowed", undefined];
const lacks = (scope) => [
  ...[403, "insufficient-scope"],
  `${REALM}, error="insufficient_scope", scope="${scope}"`,
];

/** Each operation of a project, with the scope that it needs. */
const operations = (project = PROJECT) => [
  { target: `/v1/analytics/${project}/views`, scope: "analytics:read" },
  { target: `/v2/agent/${project}/jobs`, scope: "jobs:read" },
  { target: `/v2/agent/${project}/job/j1`, scope: "jobs:read" },
  { target: `/v2/agent/${project}/job/j1/events`, scope: "jobs:read" },
  { method: "POST", target: `/v2/agent/${project}/job`, scope: "jobs:create" },
  { method: "POST", target: `/v2/agent/${project}/job/j1/message`, scope: "jobs:create" },
];
const DEEP = { target: "/healthz?deep", scope: "gateway:operate" };
/** One that reads, one that writes and the operator's: what a table's every row is shown to. */
const SAMPLE = [operations()[0], operations()[4], DEEP];

/** What makes a key set unusable, by the name of the trusted issuer that it happens to. */
const FAULTS = {
  failing: () => ({ status: 500 }),
  missing: () => ({ status: 404 }),
  garbage: () => ({ garbage: true }),
  without: () => ({ body: '{"keys":"none"}' }),
  redirecting: () => ({ redirect: issuers.attacker.jwksUrl }),
  huge: () => ({ huge: true }),
  resetting: () => ({ reset: true }),
  hanging: () => ({ hang: true }),
};
const SOUND = ["github", "partner", "access", "attacker", "flooded", "twins", "odd"];

let gate;
/** By name; all but `attacker` are trusted. */
const issuers = {};
const twins = twinKeys();
const odd = oddKeys();

before(async () => {
  const names = [...SOUND, ...Object.keys(FAULTS)];
  const started = await Promise.all(names.map(() => startIssuer()));
  for (const [at, name] of names.entries()) issuers[name] = started[at];
  for (const [name, fault] of Object.entries(FAULTS)) issuers[name].setFault(fault());
  issuers.twins.setFault({ body: JSON.stringify({ keys: twins.map(jwkOf) }) });
  issuers.odd.setFault({ body: JSON.stringify({ keys: odd.set }) });
  const vars = { TRUSTED_ISSUERS: JSON.stringify(trusted()) };
  gate = await startGate("attacks", { gateway: { vars } });
});
after(async () => {
  await gate?.stop();
  await Promise.all(Object.values(issuers).map((issuer) => issuer.stop()));
});

function grant(claims, changes) {
  return { claims, projects: [PROJECT], scope: EVERY_SCOPE, ...changes };
}

function trusted() {
  const entry = ({ url, jwksUrl }, rules = [grant({ repository: "acme/docs" })]) => ({
    ...{ issuer: url, audience: "quillgate", jwks: jwksUrl, rules },
  });
  const { github, partner, access, attacker: _, ...others } = issuers;
  return [
    entry(github, workflowRules()),
    entry(partner, [grant({ repository: "acme/docs" }, { projects: [OTHER] })]),
    {
      ...entry(access, [grant({ email: "alice@acme.example" })]),
      header: "cf-access-jwt-assertion",
    },
    ...Object.values(others).map((issuer) => entry(issuer)),
  ];
}

function workflowRules() {
  return [
    grant({ repository: "acme/docs", ref: ["refs/heads/main", "refs/heads/next"] }),
    ...SCOPES.map((scope) => grant({ environment: `only ${scope}` }, { scope })),
    grant({ repository: "acme/split" }, { scope: "jobs:read" }),
    grant({ repository: "acme/split" }, { projects: [OTHER], scope: "analytics:read" }),
    grant({ repository: "acme/elsewhere" }, { projects: [OTHER] }),
    grant({ repository: "acme/nothing" }, { quota: 0 }),
  ];
}

// --- tokens ----------------------------------------------------------------

const now = () => Math.floor(Date.now() / 1000);

/** The claims of a workflow's token, good unless they are changed. */
const workflow = (changes = {}, issuer = issuers.github) => ({
  ...issuer.githubClaims({ jti: CANARY, actor: CANARY }),
  ...changes,
});

/** A trusted issuer's token, good unless its claims or its header are changed. */
const foreign = (changes, options) => issuers.github.mint(workflow(changes), options);

/** A good one with members of its header changed; `undefined` leaves one out. */
const foreignWith = (header, { alg } = {}) => foreign({}, { header, alg });

/** A good token of Cloudflare Access. */
const access = (changes) => issuers.access.mint(issuers.access.accessClaims(changes));

const ownClaims = (changes) => gate.claims({ jti: CANARY, ...changes });

/** The gateway's own token, good unless its claims are changed. */
const own = (changes) => mintToken(ownClaims(changes), gate.secret);

/** One with another header, and the right signature unless told. */
const ownWith = (header, sign = hmac(gate.secret)) => tokenOf(header, ownClaims(), sign);

/** The header of a workflow's token. */
const header = (changes, alg = "RS256") => ({
  ...{ alg, typ: "JWT", kid: issuers.github.key(alg).kid },
  ...changes,
});

/** A token of RS256 with this text for its claims. */
const foreignText = (text) =>
  tokenOf(header(), text, asymmetric(issuers.github.key().privateKey, "sha256"));

/** JSON of an object with one more member, first. */
const withMember = (members, text) => JSON.stringify(members).replace("{", `{${text},`);

// --- asking ----------------------------------------------------------------

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const assertion = (token) => smuggled(["Cf-Access-Jwt-Assertion", token]);
const smuggled = (...headers) => ({ authorization: null, headers });

/** Sends a request for an operation, with a body where it takes one. */
function ask({ scope: _, ...operation }, options) {
  const json = operation.method === "POST" ? { prompt: "x" } : undefined;
  return gate.send({ ...operation, json, ...options });
}

/** Asserts that each operation refuses these credentials alike. */
async function assertRefused(options, [status, kind, challenge], asked = operations()) {
  const answers = await Promise.all(asked.map((operation) => ask(operation, options)));
  return answers.map((answer) => {
    assert.equal(answer.header("www-authenticate"), challenge);
    return assertProblem(answer, status, kind);
  });
}

/** Rows of a table, `[what, token, reason]`: it is refused, for that reason. */
function refusesTokens(rows, shown = bearer) {
  for (const [what, token, reason] of rows) {
    test(`refuses ${what}`, async () => {
      const problems = await assertRefused(shown(token()), INVALID, SAMPLE);
      for (const { detail } of problems) assert.match(detail, reason);
    });
  }
}

const ALGORITHM = /must be signed with HS256, or by a trusted issuer with RS256 or ES256/;
const WRONG = /signature is wrong/;
const MALFORMED = /is not a signed JWT/;
const INCOMPLETE = /claims are not complete/;
const KIND = /of an unknown kind/;
const NO_KEY = /names no key/;
const UNKNOWN_KEY = /kid is not one of its issuer's keys/;
const BRINGS_KEY = /brings its own key/;
const OTHER_ALGORITHM = /key is for another algorithm/;
const OTHER_TYPE = /key is of another type/;
const ISSUER = /from another issuer/;
const AUDIENCE = /for another audience/;
const SUBJECT = /has no subject/;
const EXPIRED = /has expired/;
const NOT_YET = /not valid yet/;
const TOO_LONG = /is too long/;
const ANY = /./;

// --- signatures ------------------------------------------------------------

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
    ["an own token by a public key's PEM", ownBy(() => publicKey("spki", "pem")), WRONG],
    [
      "an own token by that without its line end",
      ownBy(() => publicKey("spki", "pem").trim()),
      WRONG,
    ],
    ["an own token by a public key's DER", ownBy(() => publicKey("spki", "der")), WRONG],
    ["an own token by the key set", ownBy(() => JSON.stringify(issuers.github.jwks())), WRONG],
    ["an own token by nothing", ownBy(() => ""), WRONG],
    ["an own token by another secret", ownBy(newSecret), WRONG],
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
      [`an own token of alg ${alg}`, () => forgeNone(ownClaims(), { alg }), ALGORITHM],
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
      "an own token with its secret",
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
      [`${what} in an own token`, () => ownWith({ alg: "HS256", ...changes }), KIND],
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

// --- claims ----------------------------------------------------------------

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
      "a trusted issuer with an own token's claims",
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
    ["an own one expired just now", () => own({ exp: now() }), EXPIRED],
    ["an own one valid in more than a minute", () => own({ nbf: now() + 120 }), NOT_YET],
    ["an own one issued in more than a minute", () => own({ iat: now() + 120 }), NOT_YET],
    ["an own one of 91 days", () => own({ exp: now() + 91 * 86_400 }), /longer than 90 days/],
    ["an own one of 91 days that began", () => own({ iat: 0 }), /longer than 90 days/],
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
      ["an own token", own, ALGORITHM],
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

// --- projects and scopes ---------------------------------------------------

describe("a replaced project", () => {
  const elsewhere = (what, token) =>
    test(`is refused: ${what}`, () => assertRefused(bearer(token()), NOT_ALLOWED));
  elsewhere("an own token for another", () => own({ projects: [OTHER] }));
  elsewhere("an own token for none", () => own({ projects: [] }));
  elsewhere("an own token for a star", () => own({ projects: ["*", "demo-*", "demo"] }));
  elsewhere("an own token for lookalikes", () => own({ projects: ["Demo-docs", `${PROJECT} `] }));
  elsewhere("a rule that leads elsewhere", () => foreign({ repository: "acme/elsewhere" }));
  elsewhere("another issuer's rule", () => issuers.partner.mint(workflow({}, issuers.partner)));
  elsewhere("a foreign token that claims it itself", () =>
    foreign({ repository: "acme/elsewhere", projects: [PROJECT], project: PROJECT }),
  );

  for (const [what, changes] of [
    ["a longer repository", { repository: "acme/docs-evil" }],
    ["a repository with a prefix", { repository: "evil/acme/docs" }],
    ["a repository cut short", { repository: "acme/doc" }],
    ["a repository in capitals", { repository: "ACME/docs" }],
    ["a repository and a space", { repository: "acme/docs " }],
    ["a repository and a NUL", { repository: "acme/docs\u0000" }],
    ["a repository in another alphabet", { repository: "аcme/docs" }],
    ["a pattern", { repository: "*" }],
    ["a list of other repositories", { repository: ["acme/docs2"] }],
    ["a list within a list", { repository: [["acme/docs"]] }],
    ["an object", { repository: { "acme/docs": true } }],
    ["the rule's own list", { ref: '["refs/heads/main","refs/heads/next"]' }],
    ["a longer ref", { ref: "refs/heads/main2" }],
    ["a ref below", { ref: "refs/heads/main/x" }],
    ["a tag", { ref: "refs/tags/main" }],
    ["a pull request", { ref: "refs/pull/1/merge" }],
    ["no ref", { ref: undefined }],
    ["a null for ref", { ref: null }],
    [
      "another repository whose subject is the right one",
      { repository: "evil/docs", sub: "repo:acme/docs" },
    ],
    ["true", { repository: true }],
  ]) {
    test(`is refused: no rule has ${what}`, async () => {
      await assertRefused(bearer(foreign(changes)), NOT_MAPPED, [...operations(), DEEP]);
    });
  }
});

describe("scope creep", () => {
  const wanting = (scope) => operations().filter((one) => one.scope === scope);

  for (const scope of [...SCOPES, "gateway:operate"]) {
    test(`is refused: each operation that needs ${scope} with any other scope`, async () => {
      const others = [...SCOPES, "gateway:operate"].filter((other) => other !== scope);
      const asked = scope === "gateway:operate" ? [DEEP] : wanting(scope);
      for (const held of [
        ...others,
        others.join(" "),
        scope.toUpperCase(),
        `${scope}x`,
        `${scope},${others[0]}`,
        scope.split(":")[0],
        "*",
        "",
      ]) {
        await assertRefused(bearer(own({ scope: held })), lacks(scope), asked);
      }
      for (const other of others.filter((one) => SCOPES.includes(one))) {
        await assertRefused(bearer(foreign(narrow(other))), lacks(scope), asked);
      }
    });
  }

  test("is refused: a foreign token that grants itself more", async () => {
    const greedy = {
      ...{ scope: `${EVERY_SCOPE} gateway:operate`, scp: SCOPES, permissions: SCOPES },
      ...{ projects: ["*", PROJECT, OTHER], quota: 1_000_000, roles: ["admin"] },
    };
    const token = foreign({ ...narrow("jobs:read"), ...greedy });
    await assertRefused(bearer(token), lacks("analytics:read"), wanting("analytics:read"));
    await assertRefused(bearer(token), lacks("jobs:create"), wanting("jobs:create"));
    await assertRefused(bearer(token), lacks("gateway:operate"), [DEEP]);
    await assertRefused(bearer(token), NOT_ALLOWED, operations(OTHER));
  });

  test("is refused: one rule's project with another's scope", async () => {
    const token = foreign({ repository: "acme/split" });
    await assertRefused(bearer(token), lacks("analytics:read"), wanting("analytics:read"));
    const jobs = operations(OTHER).filter(({ scope }) => scope === "jobs:read");
    await assertRefused(bearer(token), lacks("jobs:read"), jobs);
  });

  test("is refused: a quota of its own above the rule's", async () => {
    const token = foreign({ repository: "acme/nothing", quota: { "create-job": 100 } });
    const answer = await gate.post(JOBS, { prompt: "x" }, bearer(token));
    assertProblem(answer, 429, "quota-exceeded");
    assert.ok(Number(answer.header("retry-after")) > 0);
  });

  function narrow(scope) {
    return { repository: "acme/narrow", environment: `only ${scope}` };
  }
});

// --- requests --------------------------------------------------------------

describe("a token at another place", () => {
  const refusesPlaces = (what, fields) =>
    test(`is not taken from ${what}`, () => assertRefused(smuggled(...fields()), MISSING));

  for (const name of [
    ...["authorization_", "x-authorization", "x_authorization", "proxy-authorization"],
    ...["x-forwarded-authorization", "x-original-authorization", "x-access-token", "x-api-key"],
  ]) {
    refusesPlaces(`${name}, own`, () => [[name, `Bearer ${own()}`]]);
    refusesPlaces(`${name}, foreign`, () => [[name, `Bearer ${foreign()}`]]);
  }
  for (const name of [
    ...["cf_access_jwt_assertion", "CF_ACCESS_JWT_ASSERTION", "Cf-Access_Jwt-Assertion"],
    ...["cf-access-jwt-assertion-", "x-cf-access-jwt-assertion", "cf-access-token"],
  ]) {
    refusesPlaces(`${name} (CVE-2025-64484)`, () => [[name, access()]]);
  }
  for (const [what, cookie] of [
    ["Access's cookie", () => `CF_Authorization=${access()}`],
    ["a cookie", () => `authorization=Bearer ${own()}; token=${own()}`],
  ]) {
    refusesPlaces(what, () => [["Cookie", cookie()]]);
  }
  refusesPlaces("who a proxy says it is", () => [
    ["X-Forwarded-User", "alice"],
    ["X-Forwarded-Email", "alice@acme.example"],
    ["X-Auth-Request-User", "alice"],
    ["Cf-Access-Authenticated-User-Email", "alice@acme.example"],
    ["Remote-User", "alice"],
    ["X-Real-IP", "127.0.0.1"],
  ]);

  test("is not taken from the query (RFC 6750, section 2.3)", async () => {
    for (const name of ["access_token", "token", "authorization", "jwt", "key"]) {
      for (const token of [own(), foreign(), `Bearer%20${own()}`]) {
        const asked = operations().map((operation) => ({
          ...operation,
          target: `${operation.target}?${name}=${token}`,
        }));
        await assertRefused({ authorization: null }, MISSING, asked);
      }
    }
  });

  test("is not taken from a form's body (RFC 6750, section 2.2)", async () => {
    const answer = await gate.send({
      ...{ method: "POST", target: JOBS, authorization: null, body: `access_token=${own()}` },
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
    });
    assertProblem(answer, 401, "missing-token");
  });

  test("is not taken from another scheme (CVE-2026-47673)", async () => {
    for (const scheme of [
      "Basic",
      "Token",
      "JWT",
      "DPoP",
      "BearerX",
      "Bearer:",
      "X-Bearer",
      '"Bearer"',
    ]) {
      await assertRefused({ authorization: `${scheme} ${own()}` }, MISSING);
      await assertRefused({ authorization: `${scheme} ${foreign()}` }, MISSING);
    }
  });

  test("does not make up for an Authorization that is none (GHSA-7488-6r32-c95q)", async () => {
    const headers = [["Cf-Access-Jwt-Assertion", access()]];
    await assertRefused({ authorization: "Bearer x", headers }, INVALID);
    await assertRefused({ authorization: "Basic Zm9vOmJhcg==", headers }, MISSING);
    await assertRefused({ authorization: "x", headers }, MISSING);
  });

  test("is refused in two Authorization fields, joined or not", async () => {
    const [good, other] = [own(), foreign()];
    for (const [first, second] of [
      [good, good],
      [other, other],
      [good, other],
      [other, good],
      [good, "x"],
      ["x", good],
    ]) {
      const headers = [["Authorization", `Bearer ${second}`]];
      await assertRefused({ authorization: `Bearer ${first}`, headers }, INVALID, SAMPLE);
      for (const joint of [", Bearer ", ",Bearer ", "; Bearer ", " Bearer ", ", ", " ", ","]) {
        await assertRefused(bearer(`${first}${joint}${second}`), INVALID, SAMPLE);
      }
    }
  });

  test("is refused behind another scheme's field", async () => {
    const headers = [["Authorization", `Bearer ${own()}`]];
    await assertRefused({ authorization: "Basic Zm9vOmJhcg==", headers }, MISSING);
    await assertRefused({ authorization: `Basic Zm9v, Bearer ${own()}` }, MISSING);
  });
});

describe("a field that claims another request", () => {
  const REWRITES = [
    ["X-Original-URL", "/healthz"],
    ["X-Rewrite-URL", "/healthz"],
    ["X-Forwarded-Uri", "/healthz"],
    ["X-Forwarded-Path", "/healthz"],
    ["X-Forwarded-Prefix", "/healthz"],
    ["X-Forwarded-Host", "127.0.0.1"],
    ["X-Forwarded-Method", "OPTIONS"],
    ["X-HTTP-Method-Override", "OPTIONS"],
    ["X-HTTP-Method", "OPTIONS"],
    ["X-Method-Override", "OPTIONS"],
    ["Forwarded", "for=127.0.0.1;host=127.0.0.1;proto=https"],
    ["X-Forwarded-For", "127.0.0.1"],
  ];

  test("opens nothing without a token (GHSA-7x63-xv5r-3p2x)", async () => {
    for (const field of REWRITES) await assertRefused(smuggled(field), MISSING);
    await assertRefused(smuggled(...REWRITES), MISSING, [DEEP]);
  });

  test("does not lead into another project", async () => {
    for (const name of ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri"]) {
      const options = { ...bearer(own()), headers: [[name, VIEWS]] };
      await assertRefused(options, NOT_ALLOWED, operations(OTHER));
    }
  });

  test("does not change the method", async () => {
    const reader = bearer(own({ scope: "jobs:create" }));
    for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
      const answer = await gate.get(JOBS, { ...reader, headers: [[name, "POST"]] });
      assertProblem(answer, 405, "method-not-allowed");
    }
    const answer = await gate.get(`${JOBS}?_method=POST`, reader);
    assertProblem(answer, 405, "method-not-allowed");
  });

  test("nor does a health check's user agent (GHSA-5hvv-m4w4-gf6v)", async () => {
    for (const agent of ["GoogleHC/1.0", "kube-probe/1.30", "ELB-HealthChecker/2.0", "/ping"]) {
      await assertRefused(smuggled(["User-Agent", agent]), MISSING, [...operations(), DEEP]);
    }
  });

  test("nor does a Vary of the caller's go into the answer (GHSA-q7jf-gf43-6x6p)", async () => {
    const answer = await gate.get(
      VIEWS,
      smuggled(["Vary", "*"], ["Origin", "https://docs.example"]),
    );
    assertProblem(answer, 401, "missing-token");
    assert.equal(answer.header("vary"), "Origin");
  });
});

describe("bytes that no field may hold", () => {
  const head = (fields) => {
    const lines = [`GET ${LIST} HTTP/1.1`, `Host: ${gate.host}`, ...fields, "", ""];
    return Buffer.from(lines.join("\r\n"), "latin1");
  };

  /** The statuses of the ways out: the runtime's own refusals, and the gateway's. */
  const assertNobody = (answer) => {
    assert.ok([400, 401, 403, 500].includes(answer.status), answer.raw.toString());
    assert.doesNotMatch(answer.raw.toString(), /^x-injected/im);
    assert.doesNotMatch(answer.text, /"jobs"/);
  };

  for (const [what, bytes] of [
    ["CR and LF", "\r\n"],
    ["LF", "\n"],
    ["CR", "\r"],
    ["a folded line", "\r\n "],
    ["a line folded by a tab", "\r\n\t"],
    ["NUL", "\0"],
    ["a vertical tab", "\v"],
    ["a form feed", "\f"],
    ["DEL", "\x7f"],
    ["NEL", "\x85"],
    ["Latin-1", "\xe9"],
    ["a line separator in UTF-8", "\xe2\x80\xa8"],
  ]) {
    test(`do no harm: ${what}`, async () => {
      const token = own();
      for (const fields of [
        // Whatever the shell reads first must not become what it reads next.
        [`X-Request-Id: a${bytes}00-trace${bytes}Bearer ${token}${bytes}X-Injected: 1`],
        [`Traceparent: a${bytes}Bearer ${token}`],
        [`User-Agent: x${bytes}Bearer ${token}`],
        [`Authorization: Basic x${bytes}Bearer ${token}`],
        [`Cf-Access-Jwt-Assertion: x${bytes}${token}`],
        [`Authorization: Bearer ${token.slice(0, 40)}${bytes}x${token.slice(40)}`],
        [`Authori${bytes}zation: Bearer ${token}`],
      ]) {
        assertNobody(await gate.sendBytes(head(fields)));
      }
    });
  }

  test("a request's id with such is replaced, and nothing is injected", async () => {
    for (const bytes of ["\r\n ", "\v", "\x7f", "\xe9", "\t", " ", "<b>", '"', ";", "%0d%0a"]) {
      const answer = await gate.sendBytes(head([`X-Request-Id: a${bytes}X-Injected: 1`]));
      assertProblem(answer, 401, "missing-token");
      assert.equal(answer.header("x-injected"), undefined);
    }
  });
});

describe("a path or a query that pretends", () => {
  const owner = () => bearer(own());
  const refused = (target, [status, kind], options = owner) =>
    test(`is refused: ${target}`, async () => {
      assertProblem(await gate.get(target, options()), status, kind);
    });
  const NOT_FOUND = [404, "not-found"];
  const IN_DISGUISE = [400, "invalid-request"];
  const nobody = () => ({ authorization: null });

  for (const dots of ["..", "%2e%2e", ".%2e", "%2E."]) {
    refused(`/v2/agent/${PROJECT}/${dots}/${OTHER}/job/j1`, NOT_ALLOWED);
    refused(`/v1/analytics/${PROJECT}\\${dots}\\${OTHER}\\views`, NOT_ALLOWED);
  }
  for (const target of [
    `//v2/agent/${PROJECT}/job/j1`,
    `/v2//agent/${PROJECT}/job/j1`,
    `/%2fv2/agent/${PROJECT}/job/j1`,
    // CVE-2026-47676: a prefix that was cut from a path before it was decoded.
    `/%76%32/agent/${PROJECT}/job/j1`,
    `/v2%2fagent%2f${PROJECT}%2fjob%2fj1`,
    `/v2%5cagent%5c${PROJECT}%5cjob%5cj1`,
    `${VIEWS};x=1`,
    `${VIEWS}%00`,
    `${VIEWS}%3flimit=1`,
    `${VIEWS}%23/healthz`,
  ]) {
    refused(target, NOT_FOUND);
  }
  for (const id of [
    "..%2f..%2fother-docs",
    "..%5c..",
    "%252e%252e",
    "a%00",
    "a%23b",
    "a%3fb",
    "%c0%ae",
  ]) {
    refused(`${JOBS}/${id}`, IN_DISGUISE);
    refused(`/v1/analytics/${id}/views`, IN_DISGUISE);
  }
  refused(`/v1/analytics/${PROJECT};a/views`, NOT_ALLOWED);

  // GHSA-pxq7-h93f-9jrg and GHSA-7rh7-c77v-6434: what may be had without a token stands elsewhere.
  for (const target of [
    `${VIEWS}#/healthz`,
    `${VIEWS}?/healthz`,
    `${VIEWS}?x=/healthz`,
    `${VIEWS}?next=/openapi.json`,
    `/healthz/..${VIEWS}`,
    `/healthz/%2e%2e${VIEWS}`,
    "/healthz?deep=",
    "/healthz?x&deep",
    "/healthz?deep#x",
  ]) {
    refused(target, MISSING, nobody);
  }
  for (const target of ["/healthz/?deep", "/healthz%3fdeep", "//healthz?deep", "/healthz/deep"]) {
    refused(target, NOT_FOUND, nobody);
  }

  test("is refused: an absolute target, there or elsewhere", async () => {
    for (const host of ["evil.example", gate.host]) {
      for (const path of [VIEWS, "/healthz?deep"]) {
        const target = `http://${host}${path}`;
        for (const options of [nobody(), owner()]) {
          const answer = await gate.get(target, options);
          assert.ok(answer.status >= 400, `${target} ${answer.status}`);
          assert.doesNotMatch(answer.text, /totals|breaker/);
        }
      }
    }
  });

  test("tells nobody more than that the Worker is up", async () => {
    for (const target of [
      "/healthz?DEEP",
      "/healthz?%64eep",
      "/healthz?x=deep",
      "/healthz#?deep",
    ]) {
      const answer = await gate.get(target, { authorization: null });
      assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }], target);
    }
  });

  test("a body of unknown length is counted (GHSA-92vj-g62v-jqhh)", async () => {
    const body = JSON.stringify({ prompt: "x".repeat(128 * 1024) });
    for (const length of [[], [["Content-Length", "5"]]]) {
      const headers = [["Content-Type", "application/json"], ...length];
      const options = { method: "POST", target: JOBS, ...owner(), headers, body, chunked: true };
      assertProblem(await answerOfWorker(options), 413, "content-too-large");
    }
  });

  /**
   * Wrangler's proxy at times gives up itself when the Worker answers before it has read a body
   * to its end: then it is asked again.
   */
  async function answerOfWorker(options, attempts = 20) {
    const answer = await gate.send(options);
    const ofProxy = answer.text.startsWith("Your worker restarted mid-request");
    return ofProxy && attempts > 1 ? answerOfWorker(options, attempts - 1) : answer;
  }
});

// --- key sets --------------------------------------------------------------

describe("a key set that cannot be had", () => {
  const token = (name) => issuers[name].mint(workflow({}, issuers[name]));

  test("lets nobody in: 503, and nobody follows a redirect", async () => {
    const names = Object.keys(FAULTS);
    const answers = await Promise.all(names.map((name) => gate.get(LIST, bearer(token(name)))));
    for (const answer of answers) {
      assertProblem(answer, 503, "issuer-unavailable");
      assert.ok(Number(answer.header("retry-after")) > 0);
    }
    const forged = signToken(workflow({}, issuers.redirecting), issuers.attacker.key());
    assertProblem(await gate.get(LIST, bearer(forged)), 503, "issuer-unavailable");
    assert.equal(issuers.attacker.jwksRequests, 0);
  });

  test("is asked for once, however many wait for it", async () => {
    const many = Array.from({ length: 50 }, () => gate.get(LIST, bearer(token("failing"))));
    for (const answer of await Promise.all(many)) {
      assertProblem(answer, 503, "issuer-unavailable");
    }
    assert.equal(issuers.failing.jwksRequests, 1);
  });
});

test("1,000 unknown kids bring at most one look at the key set a minute", async () => {
  const { flooded } = issuers;
  const claims = workflow({}, flooded);
  const unknown = (kid) => tokenOf({ alg: "RS256", kid }, claims, constant(Buffer.alloc(256, 1)));
  for (let batch = 0; batch < 10; batch += 1) {
    const tokens = Array.from({ length: 100 }, (_, at) => unknown(`unknown-${batch}-${at}`));
    const answers = await Promise.all(tokens.map((token) => gate.get(LIST, bearer(token))));
    for (const answer of answers) assertProblem(answer, 401, "invalid-token");
  }
  // The first look, and one for a key that is not there.
  assert.ok(flooded.jwksRequests <= 2, `${flooded.jwksRequests} looks`);
});

// --- and in the end --------------------------------------------------------

test("nothing of all this has reached the upstream, nor the attacker", async () => {
  const { requests, jobsCreated } = await gate.upstream.counters();
  assert.deepEqual([requests, jobsCreated], [0, 0]);
  assert.equal(issuers.attacker.jwksRequests, 0);
});

describe("what they pretended to be", () => {
  test("is let in: each token without its change", async () => {
    for (const options of [
      bearer(own()),
      bearer(foreign()),
      bearer(foreign({}, { alg: "ES256" })),
      bearer(foreign({ aud: ["other", "quillgate"], ref: "refs/heads/next" })),
      bearer(foreign(narrowEnough())),
      bearer(issuers.flooded.mint(workflow({}, issuers.flooded))),
      bearer(signToken(workflow({}, issuers.odd), { ...odd.rsa, kid: "bare" })),
      assertion(access()),
    ]) {
      assert.equal((await gate.get(LIST, options)).status, 200);
      assert.equal((await gate.get(VIEWS, options)).status, 200);
    }
    assert.equal(await gate.received(), 1, "the page is kept from then on");
  });

  test("is let in once the keys can be had, by who waits as told", async () => {
    issuers.garbage.setFault();
    const first = await gate.get(LIST, bearer(mintOf("garbage")));
    if (first.status === 503) await sleep(1000 * Number(first.header("retry-after")));
    assert.equal((await gate.get(LIST, bearer(mintOf("garbage")))).status, 200);
  });

  test("leaves nothing to strangers: not what is kept (GHSA-6wqw-2p9w-4vw4)", async () => {
    const visits = await gate.received();
    for (const [options, [status, kind]] of [
      [{ authorization: null }, MISSING],
      [bearer(withWrongSignature(foreign())), INVALID],
      [bearer(own({ projects: [OTHER] })), NOT_ALLOWED],
      [bearer(own({ scope: "jobs:read" })), lacks("analytics:read")],
      [bearer(foreign({ repository: "acme/none" })), NOT_MAPPED],
    ]) {
      const headers = [...(options.headers ?? []), ["If-None-Match", "*"]];
      assertProblem(await gate.get(VIEWS, { ...options, headers }), status, kind);
    }
    assert.equal(await gate.received(), visits);
  });

  test("is not taken for a token that begins like it (GHSA-jjhc-v7c2-5hh6)", async () => {
    for (const good of [foreign(), own()]) {
      assert.equal((await gate.get(LIST, bearer(good))).status, 200);
      for (const kept of [20, 100, good.lastIndexOf("."), good.length - 8]) {
        const filled = good.slice(0, kept) + good.slice(kept).replaceAll(/[\w-]/g, "A");
        assertProblem(await gate.get(LIST, bearer(filled)), 401, "invalid-token");
      }
    }
  });

  const narrowEnough = () => ({ repository: "acme/docs", environment: "only jobs:read" });
  const mintOf = (name) => issuers[name].mint(workflow({}, issuers[name]));
});

test("no answer and no line of the log holds a token, a key, a claim or a stack", async () => {
  await gate.assertDiscreet();
  for (const file of ["traffic-attacks.bin", "traffic-attacks.log"]) {
    const said = readFileSync(join(LOGS, file), "latin1");
    assert.ok(!said.includes(CANARY), `a claim in ${file}`);
    // Whatever is a token's header or claims begins so in base64.
    assert.doesNotMatch(said, /eyJ[\w-]{8}/, `a token in ${file}`);
    assert.doesNotMatch(said, /-----BEGIN|"kty"|"n":/, `a key in ${file}`);
    assert.doesNotMatch(said, /panicked|RuntimeError|\n\s+at .+:\d+:\d+/, `a stack in ${file}`);
  }
});

describe("where no issuer takes its tokens from Cf-Access-Jwt-Assertion", () => {
  let bare;

  before(async () => {
    const vars = { TRUSTED_ISSUERS: JSON.stringify(trusted().filter((one) => !one.header)) };
    bare = await startGate("attacks-bare", { gateway: { vars } });
  });
  after(() => bare?.stop());

  test("the field counts for nothing", async () => {
    for (const token of [access(), foreign(), mintToken(bare.claims(), bare.secret), "x"]) {
      const answer = await bare.get(LIST, assertion(token));
      assertProblem(answer, 401, "missing-token");
      assert.equal(answer.header("www-authenticate"), REALM);
    }
    const headers = [["Cf-Access-Jwt-Assertion", access()]];
    const answer = await bare.get(LIST, { headers });
    assert.equal(answer.status, 200, "nor does it spoil a good token");
  });
});
