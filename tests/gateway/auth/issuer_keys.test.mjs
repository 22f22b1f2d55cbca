/**
 * Issuer keys. For one issuer, 400 forged tokens cause at most four key-set calls to the
 * organization object. The gateway accepts tokens with a known key while their issuer is
 * unreachable.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { newSigningKey, signToken, startIssuer } from "../../harness/issuer.mjs";
import { assertProblem, EVERY_SCOPE, PROJECT, startGate } from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const OPERATE = "gateway:operate";
const FORGED_TOKENS = 400;
const CONCURRENCY = 100;
/**
 * The gateway fetches the key set once for the first token, and once for an unknown kid. If the
 * attack lasts longer than a minute, the gateway fetches the set up to two more times.
 */
const MAX_FETCHES = 4;

const bearer = (token) => ({ authorization: `Bearer ${token}` });

function trust({ url, jwksUrl }) {
  const rule = { claims: { repository: "acme/docs" }, projects: [PROJECT], scope: EVERY_SCOPE };
  return JSON.stringify([{ issuer: url, audience: "quillgate", jwks: jwksUrl, rules: [rule] }]);
}

const mint = (gate, issuer, options) =>
  bearer(gate.known(issuer.mint(issuer.githubClaims(), options)));

/**
 * Returns the number of key-set calls that the organization object has received since its start.
 */
async function keySetCalls(gate) {
  const operator = bearer(gate.token({ projects: [], scope: OPERATE }));
  const answer = await gate.get("/healthz?deep", operator);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.organization.keySetCalls;
}

describe("an attacker with 400 forged tokens and random kids", () => {
  const attackerKey = newSigningKey();
  let gate;
  let issuer;

  before(async () => {
    issuer = await startIssuer();
    gate = await startGate("issuer-keys-attack", {
      gateway: { vars: { TRUSTED_ISSUERS: trust(issuer) } },
    });
  });
  after(async () => {
    await gate?.stop();
    await issuer?.stop();
  });

  test("makes at most 4 key-set calls for 400 forged tokens with random kids", async () => {
    // The delay lets the other requests arrive during the first fetch.
    issuer.setFault({ delayMs: 500 });
    const claims = issuer.githubClaims();
    for (let sent = 0; sent < FORGED_TOKENS; sent += CONCURRENCY) {
      const forged = Array.from({ length: CONCURRENCY }, () =>
        signToken(claims, attackerKey, { kid: randomUUID() }),
      );
      const answers = await Promise.all(forged.map((token) => gate.get(LIST, bearer(token))));
      for (const answer of answers) assertProblem(answer, 401, "invalid-token");
    }
    const calls = await keySetCalls(gate);
    assert.ok(calls <= MAX_FETCHES, `${calls} calls to the organization object`);
    const fetches = issuer.jwksRequests;
    assert.ok(fetches >= 1 && fetches <= MAX_FETCHES, `${fetches} fetches from the issuer`);
  });

  test("accepts genuine tokens after an attack with forged tokens", async () => {
    for (const alg of ["RS256", "ES256"]) {
      const answer = await gate.get(LIST, mint(gate, issuer, { alg }));
      assert.equal(answer.status, 200, answer.text);
    }
  });
});

describe("an issuer that has shut down", () => {
  let gate;
  let issuer;
  let state;

  before(async () => {
    state = mkdtempSync(join(tmpdir(), "quillgate-issuer-keys-"));
    issuer = await startIssuer();
    gate = await startGate("issuer-keys-outage", {
      gateway: { state, vars: { TRUSTED_ISSUERS: trust(issuer) } },
    });
    const answer = await gate.get(LIST, mint(gate, issuer));
    assert.equal(answer.status, 200, answer.text);
    await issuer.stop();
  });
  after(async () => {
    await gate?.stop();
    rmSync(state, { recursive: true, force: true });
  });

  test("accepts known keys of a stopped issuer after the Worker restarts", async () => {
    await gate.restart();
    // A token with an unknown kid must not make the gateway discard the stored keys.
    const unknown = await gate.get(LIST, mint(gate, issuer, { kid: "unknown" }));
    assertProblem(unknown, 401, "invalid-token");
    for (const alg of ["RS256", "ES256"]) {
      const answer = await gate.get(LIST, mint(gate, issuer, { alg }));
      assert.equal(answer.status, 200, answer.text);
    }
  });

  test("deletes the stored keys of an issuer that is no longer configured", async () => {
    const { vars } = gate.settings;
    gate.settings.vars = { ...vars, TRUSTED_ISSUERS: "[]" };
    await gate.restart();
    assert.equal(await keySetCalls(gate), 0);
    gate.settings.vars = vars;
    await gate.restart();
    assertProblem(await gate.get(LIST, mint(gate, issuer)), 503, "issuer-unavailable");
  });
});
