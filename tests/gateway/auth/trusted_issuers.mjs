/** A gateway with trusted issuers, rotated secrets and revoked tokens. */
import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import { startIssuer } from "../../harness/issuer.mjs";
import { newSecret } from "../../harness/token.mjs";
import { assertProblem, EVERY_SCOPE, PROJECT, startGate } from "../recorded_gateway.mjs";

export const LIST = `/v2/agent/${PROJECT}/jobs`;
export const DEEP = "/healthz?deep";
export const OPERATE = "gateway:operate";
export const REALM = 'Bearer realm="quillgate"';
export const INVALID = `${REALM}, error="invalid_token"`;
export const prompt = "document the release";

/** Names of the trusted issuers. Each test that changes an issuer's keys has its own issuer. */
const NAMES = ["github", "people", "crowded", "rotating"];
export const issuers = {};
export const oldSecret = newSecret();

export let gate;

export function useTrustedIssuers(name) {
  before(async () => {
    for (const name of NAMES) issuers[name] = await startIssuer();
    const secret = newSecret();
    gate = await startGate(name, {
      gateway: {
        secret: `${secret},${oldSecret}`,
        vars: {
          TRUSTED_ISSUERS: JSON.stringify(trusted()),
          REVOKED_TOKENS: JSON.stringify([{ jti: "leaked" }]),
        },
      },
    });
    gate.secret = secret;
  });
  after(async () => {
    await gate?.stop();
    await Promise.all(Object.values(issuers).map((issuer) => issuer.stop()));
  });
  beforeEach(() => gate.upstream.reset());
}

export function trusted() {
  const grant = (claims, changes) => ({
    ...{ claims, projects: [PROJECT], scope: EVERY_SCOPE },
    ...changes,
  });
  const entry = ({ url, jwksUrl }, rules) => ({
    ...{ issuer: url, audience: "quillgate", jwks: jwksUrl, rules },
  });
  const { github, people, ...others } = issuers;
  const operators = grant({ team: "platform" }, { projects: [], scope: OPERATE });
  return [
    entry(github, [
      grant({ repository: "acme/docs", ref: "refs/heads/main" }),
      grant({ repository: "acme/app", environment: "production" }, { scope: "jobs:create" }),
      operators,
    ]),
    {
      ...entry(people, [grant({ email: ["alice@acme.example", "bob@acme.example"] }), operators]),
      header: "Cf-Access-Jwt-Assertion",
    },
    ...Object.values(others).map((issuer) => entry(issuer, [grant({ repository: "acme/docs" })])),
  ];
}

export const workflow = (changes, options) => {
  const token = issuers.github.mint(issuers.github.githubClaims(changes), options);
  return gate.known(token);
};

export const person = (changes) =>
  gate.known(issuers.people.mint(issuers.people.accessClaims(changes)));

export const bearer = (token) => ({ authorization: `Bearer ${token}` });
export const assertion = (token, ...headers) => ({
  ...{ authorization: null, headers: [["Cf-Access-Jwt-Assertion", token], ...headers] },
});
/** Returns the `Origin` field of requests from the gateway's own page. */
export const ownOrigin = () => ["Origin", `http://${gate.host}`];

export function assertUnauthorized(answer, reason, kind = "invalid-token") {
  const { detail } = assertProblem(answer, 401, kind);
  assert.equal(answer.header("www-authenticate"), kind === "invalid-token" ? INVALID : REALM);
  if (reason) assert.match(detail, reason);
}

export async function assertAccepted(options) {
  const answer = await gate.get(LIST, options);
  assert.equal(answer.status, 200, answer.text);
}
