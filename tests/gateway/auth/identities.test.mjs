/**
 * Identities from trusted issuers. The gateway accepts tokens of GitHub workflows and of Cloudflare
 * Access users if a rule matches. It follows an issuer's key rotation, and accepts tokens with
 * known keys while the issuer's key set is unusable.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openSession, SESSION_COOKIE } from "../browser.mjs";
import { ALLOWED_ORIGIN, assertProblem, JOBS, PROJECT, VIEWS } from "../recorded_gateway.mjs";
import {
  assertAccepted,
  assertion,
  assertUnauthorized,
  bearer,
  gate,
  issuers,
  LIST,
  OUTAGES,
  ownOrigin,
  person,
  prompt,
  REALM,
  useTrustedIssuers,
  workflow,
} from "./trusted_issuers.mjs";

useTrustedIssuers("identities");

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

  test("sends nothing from a workflow's token upstream", async () => {
    const token = workflow();
    assert.equal((await gate.post(JOBS, { prompt }, bearer(token))).status, 201);
    const [request] = await gate.upstream.requests();
    assert.equal(request.authorization, "accepted");
    const signature = token.split(".").at(-1);
    assert.ok(!JSON.stringify(request).includes(signature));
    assert.ok(!JSON.stringify(request).includes("acme"));
  });

  test("grants a workflow only the scope of the rule for its environment", async () => {
    const deploying = { repository: "acme/app", environment: "production" };
    const created = await gate.post(JOBS, { prompt }, bearer(workflow(deploying)));
    assert.equal(created.status, 201, created.text);
    const answer = await gate.get(LIST, bearer(workflow(deploying)));
    assertProblem(answer, 403, "insufficient-scope");
    const challenge = `${REALM}, error="insufficient_scope", scope="jobs:read"`;
    assert.equal(answer.header("www-authenticate"), challenge);
  });

  test("limits a workflow to the quota of its rule before the project's budget", async () => {
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
    assert.equal(other.status, 201, "another caller has its own quota");
  });
});

describe("a user behind Cloudflare Access", () => {
  test("accepts a Cloudflare Access token in its header field", async () => {
    const created = await gate.post(JOBS, { prompt }, assertion(person(), ownOrigin()));
    assert.equal(created.status, 201, created.text);
    const line = await gate.logged(created.header("x-request-id"));
    assert.equal(line.subject, issuers.people.accessClaims().sub);
  });

  test("rejects a Cloudflare Access request from a page of another origin (CSRF)", async () => {
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

  test("accepts a Cloudflare Access request whose session cookie no longer counts", async () => {
    const browser = await openSession(gate);
    const { cookie } = browser;
    await browser.signOut();
    for (const value of [cookie, "made-up"]) {
      const ended = ["Cookie", `${SESSION_COOKIE}=${value}`];
      for (const token of [person(), person()]) {
        const answer = await gate.get(LIST, assertion(token, ended));
        assert.equal(answer.status, 200, answer.text);
        const line = await gate.logged(answer.header("x-request-id"));
        assert.equal(line.subject, issuers.people.accessClaims().sub);
      }
      const created = await gate.post(JOBS, { prompt }, assertion(person(), ended, ownOrigin()));
      assert.equal(created.status, 201, created.text);
      assertUnauthorized(await gate.get(LIST, assertion("x", ended)), /not a signed JWT/);
      const without = await gate.get(LIST, { authorization: null, headers: [ended] });
      assertProblem(without, 401, "session-ended");
    }
  });

  test("accepts Cloudflare Access requests from the gateway's own page and allowed origins", async () => {
    for (const origin of [gate.gateway.url, ALLOWED_ORIGIN]) {
      await assertAccepted(assertion(person(), ["Origin", origin]));
    }
  });
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

  test("accepts an issuer's older keys while they stay in the key set", async () => {
    const { keeping } = issuers;
    const [first, second] = [keeping.rotate({ keepOld: true }), keeping.rotate({ keepOld: true })];
    for (const key of [
      first.RS256,
      first.ES256,
      second.RS256,
      keeping.key(),
      keeping.key("ES256"),
    ]) {
      await assertAccepted(token(keeping, { key }));
    }
    assert.equal(keeping.jwksRequests, 1);
  });

  for (const [what, fault] of Object.entries(OUTAGES)) {
    test(`accepts an issuer's known keys while its key set is unusable: ${what}`, async () => {
      const issuer = issuers[what];
      await assertAccepted(token(issuer));
      issuer.setFault(fault);
      const unknown = await gate.get(LIST, token(issuer, { kid: "unknown" }));
      assertUnauthorized(unknown, /kid is not one of its issuer's keys/);
      await assertAccepted(token(issuer));
      await assertAccepted(token(issuer, { alg: "ES256" }));
    });
  }
});
