import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Issuer } from "../../harness/issuer.mjs";
import { accessClaims, mintToken, newSecret } from "../../harness/token.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  JOBS,
  PROJECT,
  trustedIssuer,
  useGate,
  useServer,
} from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const DEEP = "/healthz?deep";
const OPERATE = "gateway:operate";
const prompt = "document the release";

/** Each test that changes an issuer's keys has its own issuer. */
const issuers = Object.fromEntries(
  ["github", "people", "crowded", "rotating"].map((name) => [name, useServer(new Issuer())]),
);
const oldSecret = newSecret();

const secret = newSecret();
const gate = useGate("identities", () => ({
  gateway: {
    secret: `${secret},${oldSecret}`,
    vars: {
      TRUSTED_ISSUERS: JSON.stringify(trusted()),
      REVOKED_TOKENS: JSON.stringify([{ jti: "leaked" }]),
    },
  },
}));
gate.secret = secret;
beforeEach(() => gate.upstream.reset());

function trusted() {
  const grant = (claims, changes) => ({
    ...{ claims, projects: [PROJECT], scope: EVERY_SCOPE },
    ...changes,
  });
  const { github, people, ...others } = issuers;
  const operators = grant({ team: "platform" }, { projects: [], scope: OPERATE });
  return [
    trustedIssuer(github, [grant({ repository: "acme/docs", ref: "refs/heads/main" }), operators]),
    {
      ...trustedIssuer(people, [
        grant({ email: ["alice@acme.example", "bob@acme.example"] }),
        operators,
      ]),
      header: "Cf-Access-Jwt-Assertion",
    },
    ...Object.values(others).map((issuer) =>
      trustedIssuer(issuer, [grant({ repository: "acme/docs" })]),
    ),
  ];
}

const workflow = (changes, options) => {
  const token = issuers.github.mint(issuers.github.githubClaims(changes), options);
  return gate.known(token);
};

const person = (changes) => gate.known(issuers.people.mint(issuers.people.accessClaims(changes)));

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const assertion = (token, ...headers) => ({
  ...{ authorization: null, headers: [["Cf-Access-Jwt-Assertion", token], ...headers] },
});
/** Returns the `Origin` field of requests from the gateway's own page. */
const ownOrigin = () => ["Origin", `http://${gate.host}`];

function assertUnauthorized(answer, reason) {
  const { detail } = assertProblem(answer, 401, "invalid-token");
  assert.equal(
    answer.header("www-authenticate"),
    'Bearer realm="quillgate", error="invalid_token"',
  );
  assert.match(detail, reason);
}

async function assertAccepted(options) {
  const answer = await gate.get(LIST, options);
  assert.equal(answer.status, 200, answer.text);
}

describe("a GitHub workflow", () => {
  const SUBJECT = "repo:acme/docs:ref:refs/heads/main";

  for (const alg of ["RS256", "ES256"]) {
    test(`creates a job with a workflow's own token (${alg}) and no stored secret`, async () => {
      const options = bearer(workflow({}, { alg }));
      const created = await gate.post(JOBS, { prompt }, options);
      assert.equal(created.status, 201, created.text);
      const [job] = await gate.upstream.jobs();
      assert.deepEqual([created.json.id, job.prompt], [job.id, prompt]);

      const read = await gate.get(`${JOBS}/${job.id}`, options);
      assert.deepEqual([read.status, read.json.id], [200, job.id]);
      const { jobs } = (await gate.get(LIST, options)).json;
      const own = jobs.find(({ id }) => id === job.id);
      assert.deepEqual([own.createdBy, own.prompt], [SUBJECT, prompt]);

      const line = await gate.logged(created.header("x-request-id"));
      assert.deepEqual([line.subject, line.project, line.status], [SUBJECT, PROJECT, 201]);
    });
  }
});

test("accepts a Cloudflare Access token in its header field", async () => {
  const created = await gate.post(JOBS, { prompt }, assertion(person(), ownOrigin()));
  assert.equal(created.status, 201, created.text);
  const line = await gate.logged(created.header("x-request-id"));
  assert.equal(line.subject, issuers.people.accessClaims().sub);
});

describe("an issuer's keys", () => {
  const claims = (issuer, changes) => issuer.githubClaims(changes);
  const token = (issuer, options) => bearer(gate.known(issuer.mint(claims(issuer), options)));

  test("fetches an issuer's keys once for 100 concurrent first requests", async () => {
    const { crowded } = issuers;
    crowded.setFault({ delayMs: 300 });
    const pending = Array.from({ length: 100 }, (_, at) =>
      gate.get(LIST, token(crowded, { alg: at % 2 ? "RS256" : "ES256" })),
    );
    for (const answer of await Promise.all(pending)) assert.equal(answer.status, 200, answer.text);
    assert.equal(crowded.jwksRequests, 1);
    await assertAccepted(token(crowded));
    assert.equal(crowded.jwksRequests, 1);
  });

  test("accepts an issuer's new keys after one fetch, and rejects removed keys", async () => {
    const { rotating } = issuers;
    await assertAccepted(token(rotating));
    const before = token(rotating);
    const old = rotating.rotate();
    assert.equal(rotating.jwksRequests, 1);
    const pending = Array.from({ length: 20 }, () => gate.get(LIST, token(rotating)));
    for (const answer of await Promise.all(pending)) assert.equal(answer.status, 200, answer.text);
    assert.equal(rotating.jwksRequests, 2);

    assertUnauthorized(await gate.get(LIST, before), /kid is not one of its issuer's keys/);
    const fresh = token(rotating, { key: old.ES256 });
    assertUnauthorized(await gate.get(LIST, fresh), /kid is not one of its issuer's keys/);
    await assertAccepted(token(rotating, { alg: "ES256" }));
    assert.equal(rotating.jwksRequests, 3, "the kids of removed keys cause one fetch");
  });
});

const operator = (changes = {}) => {
  const claims = accessClaims({ sub: "olga", scope: OPERATE });
  return bearer(gate.known(mintToken({ ...claims, ...changes }, gate.secret)));
};

test("returns the gateway's health to operators, without a project in the token", async () => {
  for (const options of [
    operator(),
    bearer(workflow({ repository: "acme/x", team: "platform" })),
    assertion(person({ email: "x@acme.example", team: "platform" })),
  ]) {
    const answer = await gate.get(DEEP, options);
    assert.equal(answer.status, 200, answer.text);
    const { status, organization, trustedIssuers } = answer.json;
    assert.deepEqual([status, organization.breaker], ["ok", "closed"]);
    assert.deepEqual(
      trustedIssuers,
      trusted().map(({ issuer }) => issuer),
    );
    assert.equal(answer.header("cache-control"), "no-store");
  }
  assert.equal(await gate.received(), 0);
});

describe("a gateway token", () => {
  const own = (changes) => bearer(gate.token(changes));

  test("rejects a token with a revoked jti, whatever its subject", async () => {
    for (const sub of ["alice", "bob"]) {
      const answer = await gate.get(LIST, own({ sub, jti: "leaked" }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const old = bearer(gate.known(mintToken(gate.claims({ jti: "leaked" }), oldSecret)));
    assertUnauthorized(await gate.get(LIST, old), /has been revoked/);
  });
});
