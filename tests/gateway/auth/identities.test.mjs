import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JOBS, PROJECT } from "../recorded_gateway.mjs";
import {
  assertAccepted,
  assertion,
  assertUnauthorized,
  bearer,
  gate,
  issuers,
  LIST,
  ownOrigin,
  person,
  prompt,
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
});

describe("a user behind Cloudflare Access", () => {
  test("accepts a Cloudflare Access token in its header field", async () => {
    const created = await gate.post(JOBS, { prompt }, assertion(person(), ownOrigin()));
    assert.equal(created.status, 201, created.text);
    const line = await gate.logged(created.header("x-request-id"));
    assert.equal(line.subject, issuers.people.accessClaims().sub);
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
});
