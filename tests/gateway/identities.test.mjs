/** Who is let in: workflows, people behind Cloudflare Access, own tokens while secrets rotate. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { startIssuer } from "../harness/issuer.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import {
  ALLOWED_ORIGIN,
  assertProblem,
  EVERY_SCOPE,
  JOBS,
  PROJECT,
  startGate,
  VIEWS,
} from "./gate.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const DEEP = "/healthz?deep";
const OPERATE = "gateway:operate";
const REALM = 'Bearer realm="quillgate"';
const INVALID = `${REALM}, error="invalid_token"`;
const prompt = "document the release";

/** The trusted issuers: what happens to the keys of one is nothing to another's. */
const NAMES = ["github", "people", "crowded", "rotating", "keeping"];
const issuers = {};
/** What a key set can do when it is looked at again; each happens to an issuer of its own. */
const OUTAGES = {
  500: { status: 500 },
  garbage: { garbage: true },
  "a reset": { reset: true },
  "a redirect": { redirect: "http://127.0.0.1:1/" },
  "32 MiB": { huge: true },
  "a set of no keys' form": { body: '{"keys":[5]}' },
  "a set in which a member stands twice": { body: '{"keys":[],"keys":[]}' },
};
/** An instant before which every token of `mallory` is revoked. */
const revokedBefore = now();
const oldSecret = newSecret();

let gate;

before(async () => {
  const names = [...NAMES, ...Object.keys(OUTAGES)];
  const started = await Promise.all(names.map(() => startIssuer()));
  for (const [at, name] of names.entries()) issuers[name] = started[at];
  const secret = newSecret();
  gate = await startGate("identities", {
    gateway: {
      secret: `${secret},${oldSecret}`,
      vars: {
        TRUSTED_ISSUERS: JSON.stringify(trusted()),
        REVOKED_TOKENS: JSON.stringify([
          { jti: "leaked" },
          { sub: "mallory", before: revokedBefore },
          { iss: issuers.github.url, claims: { repository_id: "6666" } },
        ]),
        REVOKED_TOKENS_2: JSON.stringify([
          ...Array.from({ length: 200 }, (_, at) => `leaked-${at}`),
          { iss: issuers.people.url, sub: "left-the-company" },
        ]),
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

function now() {
  return Math.floor(Date.now() / 1000);
}

function trusted() {
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
      grant({ repository: "acme/few" }, { quota: { "create-job": 2 } }),
      operators,
    ]),
    {
      ...entry(people, [grant({ email: ["alice@acme.example", "bob@acme.example"] }), operators]),
      header: "Cf-Access-Jwt-Assertion",
    },
    ...Object.values(others).map((issuer) => entry(issuer, [grant({ repository: "acme/docs" })])),
  ];
}

/** A workflow's token. */
const workflow = (changes, options) => {
  const token = issuers.github.mint(issuers.github.githubClaims(changes), options);
  return gate.known(token);
};

/** Somebody's token of Cloudflare Access. */
const person = (changes) => gate.known(issuers.people.mint(issuers.people.accessClaims(changes)));

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const assertion = (token, ...headers) => ({
  ...{ authorization: null, headers: [["Cf-Access-Jwt-Assertion", token], ...headers] },
});

function assertUnauthorized(answer, reason, kind = "invalid-token") {
  const { detail } = assertProblem(answer, 401, kind);
  assert.equal(answer.header("www-authenticate"), kind === "invalid-token" ? INVALID : REALM);
  if (reason) assert.match(detail, reason);
}

async function assertLetIn(options) {
  const answer = await gate.get(LIST, options);
  assert.equal(answer.status, 200, answer.text);
}

describe("a GitHub workflow", () => {
  const SUBJECT = "repo:acme/docs:ref:refs/heads/main";

  for (const alg of ["RS256", "ES256"]) {
    test(`creates a job with the token of its run, ${alg}, and no stored secret`, async () => {
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

  test("brings nothing of its token to the upstream", async () => {
    const token = workflow();
    assert.equal((await gate.post(JOBS, { prompt }, bearer(token))).status, 201);
    const [request] = await gate.upstream.requests();
    assert.equal(request.authorization, "accepted");
    const signature = token.split(".").at(-1);
    assert.ok(!JSON.stringify(request).includes(signature));
    assert.ok(!JSON.stringify(request).includes("acme"));
  });

  test("is let in for its environment, with that rule's scope alone", async () => {
    const deploying = { repository: "acme/app", environment: "production" };
    const created = await gate.post(JOBS, { prompt }, bearer(workflow(deploying)));
    assert.equal(created.status, 201, created.text);
    const answer = await gate.get(LIST, bearer(workflow(deploying)));
    assertProblem(answer, 403, "insufficient-scope");
    const challenge = `${REALM}, error="insufficient_scope", scope="jobs:read"`;
    assert.equal(answer.header("www-authenticate"), challenge);
  });

  for (const [what, changes] of [
    ["another repository", { repository: "acme/other" }],
    ["a fork", { repository: "mallory/docs" }],
    ["another branch", { ref: "refs/heads/evil" }],
    ["a tag of that name", { ref: "refs/tags/main" }],
    ["another environment", { repository: "acme/app", environment: "staging" }],
    ["no environment", { repository: "acme/app" }],
  ]) {
    test(`is not mapped from ${what}: 403, and who it is stays unsaid`, async () => {
      for (const answer of [
        await gate.post(JOBS, { prompt }, bearer(workflow(changes))),
        await gate.get(VIEWS, bearer(workflow(changes))),
      ]) {
        const { detail } = assertProblem(answer, 403, "identity-not-mapped");
        assert.doesNotMatch(detail, /acme|mallory|heads|production/);
        assert.equal(answer.header("www-authenticate"), `${REALM}, error="insufficient_scope"`);
      }
      assert.equal(await gate.received(), 0);
    });
  }

  test("has the quota of its rule, which ends before the project's budget", async () => {
    const options = () => bearer(workflow({ repository: "acme/few" }));
    for (const left of [1, 0]) {
      const created = await gate.post(JOBS, { prompt }, options());
      assert.equal(created.status, 201, created.text);
      assert.match(created.header("ratelimit-policy"), /"create-job-caller";q=2;/);
      assert.match(created.header("ratelimit"), new RegExp(`"create-job-caller";r=${left};`));
    }
    const refused = await gate.post(JOBS, { prompt }, options());
    const problem = assertProblem(refused, 429, "quota-exceeded");
    assert.ok(problem["violated-policies"].length > 0);
    assert.ok(Number(refused.header("retry-after")) > 0);
    assert.equal((await gate.upstream.jobs()).length, 2);
    const other = await gate.post(JOBS, { prompt }, bearer(workflow()));
    assert.equal(other.status, 201, "another caller's share is its own");
  });
});

describe("somebody behind Cloudflare Access", () => {
  test("is let in by the header field", async () => {
    const created = await gate.post(JOBS, { prompt }, assertion(person()));
    assert.equal(created.status, 201, created.text);
    const line = await gate.logged(created.header("x-request-id"));
    assert.equal(line.subject, issuers.people.accessClaims().sub);
  });

  test("is let in however the field's name is written", async () => {
    for (const name of ["cf-access-jwt-assertion", "CF-ACCESS-JWT-ASSERTION"]) {
      await assertLetIn({ authorization: null, headers: [[name, person()]] });
    }
  });

  test("is not let in by the same token elsewhere", async () => {
    assertUnauthorized(await gate.get(LIST, bearer(person())), /from another issuer/);
    const cookie = [["Cookie", `CF_Authorization=${person()}`]];
    const answer = await gate.get(LIST, { authorization: null, headers: cookie });
    assertUnauthorized(answer, undefined, "missing-token");
    const smuggled = [["Cf_Access_Jwt_Assertion", person()]];
    const other = await gate.get(LIST, { authorization: null, headers: smuggled });
    assertUnauthorized(other, undefined, "missing-token");
  });

  test("is nobody when no rule knows the address", async () => {
    for (const email of ["mallory@acme.example", "alice@acme.example.evil", "ALICE@acme.example"]) {
      const answer = await gate.get(LIST, assertion(person({ email })));
      assertProblem(answer, 403, "identity-not-mapped");
    }
  });

  test("a workflow's token or one of the gateway's does not pass for one", async () => {
    assertUnauthorized(await gate.get(LIST, assertion(workflow())), /from another issuer/);
    assertUnauthorized(await gate.get(LIST, assertion(gate.token())), /must be signed with/);
  });

  test("Authorization wins when both are there, good or bad", async () => {
    const headers = [["Cf-Access-Jwt-Assertion", person()]];
    const token = gate.token({ sub: "of-the-bearer", scope: EVERY_SCOPE });
    const created = await gate.post(JOBS, { prompt }, { ...bearer(token), headers });
    assert.equal(created.status, 201);
    const line = await gate.logged(created.header("x-request-id"));
    assert.equal(line.subject, "of-the-bearer");
    assertUnauthorized(await gate.get(LIST, { ...bearer("x"), headers }), /not a signed JWT/);
    const basic = { authorization: "Basic Zm9vOmJhcg==", headers };
    assertUnauthorized(await gate.get(LIST, basic), undefined, "missing-token");
    const narrow = bearer(gate.token({ projects: ["other-docs"] }));
    assertProblem(await gate.get(LIST, { ...narrow, headers }), 403, "project-not-allowed");
    const bad = [["Cf-Access-Jwt-Assertion", "x"]];
    await assertLetIn({ ...bearer(gate.token()), headers: bad });
  });

  test("is refused from a page of another origin, which a cookie would let in (CSRF)", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      `https://${gate.host}`,
      "http://127.0.0.1",
    ]) {
      const options = assertion(person(), ["Origin", origin]);
      for (const answer of [
        await gate.post(JOBS, { prompt }, options),
        await gate.get(VIEWS, options),
      ]) {
        assertProblem(answer, 403, "origin-not-allowed");
        assert.equal(answer.header("access-control-allow-origin"), undefined);
      }
    }
    assert.equal(await gate.received(), 0);
  });

  test("is refused from a form, which needs no preflight (CSRF)", async () => {
    const body = JSON.stringify({ prompt });
    for (const type of [
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/plain",
      "text/plain; application/json",
      "",
    ]) {
      const options = assertion(person(), ["Content-Type", type]);
      const answer = await gate.send({ method: "POST", target: JOBS, body, ...options });
      assertProblem(answer, 415, "unsupported-media-type");
    }
    assert.equal(await gate.received(), 0);
  });

  test("is let in from the gateway's own page, and from an allowed one", async () => {
    for (const origin of [gate.gateway.url, ALLOWED_ORIGIN]) {
      await assertLetIn(assertion(person(), ["Origin", origin]));
    }
  });
});

describe("an issuer's keys", () => {
  const claims = (issuer, changes) => issuer.githubClaims(changes);
  const token = (issuer, options) => bearer(gate.known(issuer.mint(claims(issuer), options)));

  test("are fetched once for many first requests at a time", async () => {
    const { crowded } = issuers;
    crowded.setFault({ delayMs: 300 });
    const asked = Array.from({ length: 100 }, (_, at) =>
      gate.get(LIST, token(crowded, { alg: at % 2 ? "RS256" : "ES256" })),
    );
    for (const answer of await Promise.all(asked)) assert.equal(answer.status, 200, answer.text);
    assert.equal(crowded.jwksRequests, 1);
    await assertLetIn(token(crowded));
    assert.equal(crowded.jwksRequests, 1);
  });

  test("that are new are accepted at once, through one look, and removed ones no more", async () => {
    const { rotating } = issuers;
    await assertLetIn(token(rotating));
    const before = token(rotating);
    const old = rotating.rotate();
    assert.equal(rotating.jwksRequests, 1);
    const asked = Array.from({ length: 20 }, () => gate.get(LIST, token(rotating)));
    for (const answer of await Promise.all(asked)) assert.equal(answer.status, 200, answer.text);
    assert.equal(rotating.jwksRequests, 2);

    assertUnauthorized(await gate.get(LIST, before), /kid is not one of its issuer's keys/);
    const fresh = token(rotating, { key: old.ES256 });
    assertUnauthorized(await gate.get(LIST, fresh), /kid is not one of its issuer's keys/);
    await assertLetIn(token(rotating, { alg: "ES256" }));
    assert.equal(rotating.jwksRequests, 2, "and who names a removed one brings no further look");
  });

  test("that stay in the set beside new ones stay good", async () => {
    const { keeping } = issuers;
    const [first, second] = [keeping.rotate({ keepOld: true }), keeping.rotate({ keepOld: true })];
    for (const key of [
      first.RS256,
      first.ES256,
      second.RS256,
      keeping.key(),
      keeping.key("ES256"),
    ]) {
      await assertLetIn(token(keeping, { key }));
    }
    assert.equal(keeping.jwksRequests, 1);
  });

  for (const [what, fault] of Object.entries(OUTAGES)) {
    test(`that were had once outlast an outage: ${what}`, async () => {
      const issuer = issuers[what];
      await assertLetIn(token(issuer));
      issuer.setFault(fault);
      const unknown = await gate.get(LIST, token(issuer, { kid: "unknown" }));
      assertUnauthorized(unknown, /kid is not one of its issuer's keys/);
      await assertLetIn(token(issuer));
      await assertLetIn(token(issuer, { alg: "ES256" }));
    });
  }
});

describe("a token of the gateway", () => {
  const own = (changes) => bearer(gate.token(changes));

  test("of the newest secret and of the one before is good, of no other", async () => {
    await assertLetIn(own());
    await assertLetIn(bearer(gate.known(mintToken(gate.claims(), oldSecret))));
    const stranger = bearer(gate.known(mintToken(gate.claims(), newSecret())));
    assertUnauthorized(await gate.get(LIST, stranger), /signature is wrong/);
    const both = `${gate.secret},${oldSecret}`;
    const joined = bearer(gate.tokenOf({ alg: "HS256" }, { secret: both }));
    assertUnauthorized(await gate.get(LIST, joined), /signature is wrong/);
  });

  test("whose id is revoked is refused, whoever's it is", async () => {
    for (const sub of ["alice", "bob"]) {
      const answer = await gate.get(LIST, own({ sub, jti: "leaked" }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const old = bearer(gate.known(mintToken(gate.claims({ jti: "leaked" }), oldSecret)));
    assertUnauthorized(await gate.get(LIST, old), /has been revoked/);
  });

  test("is refused by an id of a long list in a second variable", async () => {
    for (const jti of ["leaked-0", "leaked-199"]) {
      assertUnauthorized(await gate.get(LIST, own({ jti })), /has been revoked/);
    }
    await assertLetIn(own({ jti: "leaked-200" }));
  });

  test("with another id, or none, stays good", async () => {
    for (const jti of ["leaked2", "leake", "Leaked", " leaked", undefined]) {
      await assertLetIn(own({ jti }));
    }
  });

  test("of a subject revoked before an instant is refused when it is older", async () => {
    for (const iat of [revokedBefore - 1, revokedBefore - 86_400]) {
      const answer = await gate.get(LIST, own({ sub: "mallory", iat }));
      assertUnauthorized(answer, /has been revoked/);
    }
    const half = own({ sub: "mallory", iat: revokedBefore - 0.5 });
    assertUnauthorized(await gate.get(LIST, half), /has been revoked/);
  });

  test("of that subject from that instant on, or of others at any, stays good", async () => {
    await assertLetIn(own({ sub: "mallory", iat: revokedBefore }));
    await assertLetIn(own({ sub: "mallory" }));
    for (const sub of ["alice", "Mallory", "mallory2", "mallor"]) {
      await assertLetIn(own({ sub, iat: revokedBefore - 3600 }));
    }
  });

  test("says in the same words why it is refused, revoked or of a wrong kind", async () => {
    const revoked = assertProblem(
      await gate.get(LIST, own({ jti: "leaked" })),
      401,
      "invalid-token",
    );
    const wrong = assertProblem(await gate.get(LIST, bearer("x")), 401, "invalid-token");
    assert.deepEqual(
      [revoked.type, revoked.title, revoked.status],
      [wrong.type, wrong.title, wrong.status],
    );
  });
});

describe("a trusted issuer's token", () => {
  test("whose claims are revoked is refused, and others of the issuer are not", async () => {
    const stolen = bearer(workflow({ repository_id: "6666" }));
    assertUnauthorized(await gate.get(LIST, stolen), /has been revoked/);
    await assertLetIn(bearer(workflow()));
  });

  test("whose subject is revoked is refused, wherever a rule would let it in", async () => {
    const left = assertion(person({ sub: "left-the-company" }));
    assertUnauthorized(await gate.get(LIST, left), /has been revoked/);
    await assertLetIn(assertion(person()));
  });
});

describe("an operator", () => {
  const operator = (changes = {}) => {
    const claims = accessClaims({ sub: "olga", scope: OPERATE });
    return bearer(gate.known(mintToken({ ...claims, ...changes }, gate.secret)));
  };

  test("is told how the gateway is, with the scope for it and without a project", async () => {
    for (const options of [
      operator(),
      bearer(workflow({ repository: "acme/x", team: "platform" })),
      assertion(person({ email: "x@acme.example", team: "platform" })),
    ]) {
      const answer = await gate.get(DEEP, options);
      assert.equal(answer.status, 200, answer.text);
      const { status, organisation, trustedIssuers } = answer.json;
      assert.deepEqual([status, organisation.breaker], ["ok", "closed"]);
      assert.deepEqual(
        trustedIssuers,
        trusted().map(({ issuer }) => issuer),
      );
      assert.equal(answer.header("cache-control"), "no-store");
    }
    assert.equal(await gate.received(), 0);
  });

  test("is told of a project's gate when it names one", async () => {
    const { project } = (await gate.get(`${DEEP}&project=${PROJECT}`, operator())).json;
    assert.equal(project.breaker, "closed");
    assert.equal(project.budgets["create-job"].limit, 100);
    assert.equal((await gate.get(DEEP, operator())).json.project, undefined);
  });

  test("is nobody without a token: 401", async () => {
    for (const target of [DEEP, `${DEEP}=1`, `${DEEP}&project=${PROJECT}`, `/healthz?x=1&deep`]) {
      const answer = await gate.get(target, { authorization: null });
      assertUnauthorized(answer, undefined, "missing-token");
      assertUnauthorized(await gate.get(target, bearer("x")), /not a signed JWT/);
    }
  });

  test("is nobody without the scope: 403, which the challenge names", async () => {
    for (const options of [
      bearer(gate.token()),
      bearer(gate.token({ scope: "gateway:operat gateway operate" })),
      bearer(workflow()),
      assertion(person()),
    ]) {
      const answer = await gate.get(DEEP, options);
      assertProblem(answer, 403, "insufficient-scope");
      const challenge = `${REALM}, error="insufficient_scope", scope="${OPERATE}"`;
      assert.equal(answer.header("www-authenticate"), challenge);
    }
  });

  test("may do no more than that", async () => {
    for (const options of [operator(), operator({ projects: [PROJECT] })]) {
      for (const answer of [await gate.get(LIST, options), await gate.get(VIEWS, options)]) {
        assert.equal(answer.status, 403, answer.text);
      }
    }
    assert.equal(await gate.received(), 0);
  });

  test("is not needed for whether the Worker is up", async () => {
    for (const authorization of [null, "Bearer x", `Bearer ${gate.token()}`]) {
      const answer = await gate.get("/healthz", { authorization });
      assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }]);
    }
  });
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
