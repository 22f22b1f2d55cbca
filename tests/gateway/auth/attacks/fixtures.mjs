import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { Issuer, jwkOf, newSigningKey } from "../../../harness/issuer.mjs";
import { mintToken } from "../../../harness/token.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  PROJECT,
  trustedIssuer,
  useGate,
  useServer,
} from "../../recorded_gateway.mjs";

export const OTHER = "other-docs";
export const LIST = `/v2/agent/${PROJECT}/jobs`;
/** A string in the claims of gateway and workflow tokens. */
export const CANARY = `claim-canary-${randomBytes(8).toString("hex")}`;

export const REALM = 'Bearer realm="quillgate"';
export const INVALID = [401, "invalid-token", `${REALM}, error="invalid_token"`];
export const MISSING = [401, "missing-token", REALM];
export const NOT_MAPPED = [403, "identity-not-mapped", `${REALM}, error="insufficient_scope"`];
export const NOT_ALLOWED = [403, "project-not-allowed", undefined];
export const lacks = (scope) => [
  ...[403, "insufficient-scope"],
  `${REALM}, error="insufficient_scope", scope="${scope}"`,
];

/** Returns requests that read or write in a project, each with its required scope. */
export const operations = (project = PROJECT) => [
  { target: `/v1/analytics/${project}/views`, scope: "analytics:read" },
  { target: `/v2/agent/${project}/jobs`, scope: "jobs:read" },
  { target: `/v2/agent/${project}/job/j1`, scope: "jobs:read" },
  { target: `/v2/agent/${project}/job/j1/events`, scope: "jobs:read" },
  { method: "POST", target: `/v2/agent/${project}/job`, scope: "jobs:create" },
  { method: "POST", target: `/v2/agent/${project}/job/j1/message`, scope: "jobs:create" },
];
export const DEEP = { target: "/healthz?deep", scope: "gateway:operate" };
export const SAMPLE = [operations()[0], operations()[4], DEEP];

/** The faults of key sets. Each property has the name of the trusted issuer with this fault. */
export const FAULTS = {
  failing: () => ({ status: 500 }),
  missing: () => ({ status: 404 }),
  garbage: () => ({ garbage: true }),
  without: () => ({ body: '{"keys":"none"}' }),
  redirecting: () => ({ redirect: issuers.attacker.jwksUrl }),
  huge: () => ({ huge: true }),
  resetting: () => ({ reset: true }),
  hanging: () => ({ hang: true }),
};
const WORKING = ["github", "access", "attacker", "twins", "odd"];

/** Two keys with the same `kid`. Either could be the attacker's. */
export const twins = [newSigningKey(), newSigningKey()].map((key) => ({ ...key, kid: "twin" }));
export const odd = oddKeys();

/** The issuers by name. All but `attacker` are trusted. */
export const issuers = Object.fromEntries(
  [...WORKING, ...Object.keys(FAULTS)].map((name) => [name, useServer(new Issuer())]),
);
export const gate = useGate("attacks", () => {
  for (const [name, fault] of Object.entries(FAULTS)) issuers[name].setFault(fault());
  issuers.twins.setFault({ body: JSON.stringify({ keys: twins.map(jwkOf) }) });
  issuers.odd.setFault({ body: JSON.stringify({ keys: odd.set }) });
  return { gateway: { vars: { TRUSTED_ISSUERS: JSON.stringify(trusted()) } } };
});

function oddKeys() {
  const rsa = newSigningKey();
  const weak = { ...rsa, ...generateKeyPairSync("rsa", { modulusLength: 1024 }) };
  const { publicKey: p384 } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const point = Buffer.alloc(32, 1).toString("base64url");
  const { use: _, alg: __, ...bare } = jwkOf(rsa);
  const set = {
    encrypts: { ...bare, use: "enc" },
    signs: { ...bare, key_ops: ["sign"] },
    rs512: { ...bare, alg: "RS512" },
    even: { ...bare, e: "AQAA" },
    one: { ...bare, e: "AQ" },
    weak: jwkOf(weak),
    p384: p384.export({ format: "jwk" }),
    nowhere: { kty: "EC", crv: "P-256", x: point, y: point },
    oct: { kty: "oct", k: Buffer.from("known to all").toString("base64url"), alg: "HS256" },
    bare,
  };
  return { rsa, weak, set: Object.entries(set).map(([kid, key]) => ({ ...key, kid })) };
}

function grant(claims, changes) {
  return { claims, projects: [PROJECT], scope: EVERY_SCOPE, ...changes };
}

export function trusted() {
  const { github, access, attacker: _, ...others } = issuers;
  return [
    trustedIssuer(github, [
      grant({ repository: "acme/docs", ref: ["refs/heads/main", "refs/heads/next"] }),
      grant({ environment: "only jobs:read" }, { scope: "jobs:read" }),
    ]),
    {
      ...trustedIssuer(access, [grant({ email: "alice@acme.example" })]),
      header: "cf-access-jwt-assertion",
    },
    ...Object.values(others).map((issuer) =>
      trustedIssuer(issuer, [grant({ repository: "acme/docs" })]),
    ),
  ];
}

/** Returns the claims of a workflow's token. The claims are valid unless they are changed. */
export const workflow = (changes = {}, issuer = issuers.github) => ({
  ...issuer.githubClaims({ jti: CANARY, actor: CANARY }),
  ...changes,
});

export const foreign = (changes, options) => issuers.github.mint(workflow(changes), options);

/** Mints a token of Cloudflare Access. The token is valid unless its claims are changed. */
export const access = (changes) => issuers.access.mint(issuers.access.accessClaims(changes));

export const ownClaims = (changes) => gate.claims({ jti: CANARY, ...changes });

export const own = (changes) => mintToken(ownClaims(changes), gate.secret);

export const bearer = (token) => ({ authorization: `Bearer ${token}` });
/** Returns the options of a request from the gateway's own page with a Cloudflare Access token. */
export const assertion = (token, { host } = gate) =>
  smuggled(["Cf-Access-Jwt-Assertion", token], ["Origin", `http://${host}`]);
export const smuggled = (...headers) => ({ authorization: null, headers });

function send({ scope: _, ...operation }, options) {
  const json = operation.method === "POST" ? { prompt: "x" } : undefined;
  return gate.send({ ...operation, json, ...options });
}

/** Asserts that each operation rejects these credentials alike. Returns the problems. */
export async function assertRejected(options, [status, kind, challenge], targets = operations()) {
  const answers = await Promise.all(targets.map((operation) => send(operation, options)));
  return answers.map((answer) => {
    assert.equal(answer.header("www-authenticate"), challenge);
    return assertProblem(answer, status, kind);
  });
}
