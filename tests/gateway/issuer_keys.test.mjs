/**
 * Strangers' tokens do not reach a Durable Object, and an issuer's outage locks nobody out whose
 * key is known.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { newSigningKey, signToken, startIssuer } from "../harness/issuer.mjs";
import { assertProblem, EVERY_SCOPE, PROJECT, startGate } from "./gate.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const OPERATE = "gateway:operate";
const FORGED = 2_300;
const AT_A_TIME = 100;
/** The first look of all, one for a key that is not there, and what a slow minute may add. */
const HANDFUL = 4;

const bearer = (token) => ({ authorization: `Bearer ${token}` });

function trust(...issuers) {
  const rule = { claims: { repository: "acme/docs" }, projects: [PROJECT], scope: EVERY_SCOPE };
  const entry = ({ url, jwksUrl }) => ({
    ...{ issuer: url, audience: "quillgate", jwks: jwksUrl, rules: [rule] },
  });
  return JSON.stringify(issuers.map(entry));
}

const mint = (gate, issuer, options) =>
  bearer(gate.known(issuer.mint(issuer.githubClaims(), options)));

/** How often the organisation's object was asked for keys since it was opened. */
async function keySetCalls(gate) {
  const operator = bearer(gate.token({ projects: [], scope: OPERATE }));
  const answer = await gate.get("/healthz?deep", operator);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.organisation.keySetCalls;
}

describe("a stranger with 2,300 forged tokens of random kids", () => {
  const stranger = newSigningKey();
  let gate;
  let issuer;
  let failing;

  before(async () => {
    [issuer, failing] = await Promise.all([startIssuer(), startIssuer()]);
    gate = await startGate("issuer-keys-attack", {
      gateway: { vars: { TRUSTED_ISSUERS: trust(issuer, failing) } },
    });
  });
  after(async () => {
    await gate?.stop();
    await Promise.all([issuer?.stop(), failing?.stop()]);
  });

  async function attack(target, status, kind) {
    const claims = target.githubClaims();
    for (let sent = 0; sent < FORGED; sent += AT_A_TIME) {
      const forged = Array.from({ length: AT_A_TIME }, () =>
        signToken(claims, stranger, { kid: randomUUID() }),
      );
      const answers = await Promise.all(forged.map((token) => gate.get(LIST, bearer(token))));
      for (const answer of answers) assertProblem(answer, status, kind);
    }
  }

  test("makes a handful of calls of the gate, from the first look on", async () => {
    // As long as the first look takes, everybody else arrives during it.
    issuer.setFault({ delayMs: 500 });
    await attack(issuer, 401, "invalid-token");
    const calls = await keySetCalls(gate);
    assert.ok(calls <= HANDFUL, `${calls} calls of the gate`);
    const looks = issuer.jwksRequests;
    assert.ok(looks >= 1 && looks <= HANDFUL, `${looks} looks at the issuer`);
  });

  test("keeps no genuine caller out", async () => {
    for (const alg of ["RS256", "ES256"]) {
      const answer = await gate.get(LIST, mint(gate, issuer, { alg }));
      assert.equal(answer.status, 200, answer.text);
    }
  });

  test("makes a handful of calls while the issuer fails as well", async () => {
    failing.setFault({ status: 500 });
    const earlier = await keySetCalls(gate);
    await attack(failing, 503, "issuer-unavailable");
    const calls = (await keySetCalls(gate)) - earlier;
    assert.ok(calls <= HANDFUL, `${calls} calls of the gate`);
    const looks = failing.jwksRequests;
    assert.ok(looks >= 1 && looks <= HANDFUL, `${looks} looks at the issuer`);
  });

  test("gets nothing of anybody's secrets", () => gate.assertDiscreet());
});

describe("an issuer that is gone", () => {
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

  test("locks out nobody whose key is known, though the Worker restarts", async () => {
    await gate.restart();
    // A stranger comes first, and finds out nothing.
    const unknown = await gate.get(LIST, mint(gate, issuer, { kid: "unknown" }));
    assertProblem(unknown, 401, "invalid-token");
    for (const alg of ["RS256", "ES256"]) {
      const answer = await gate.get(LIST, mint(gate, issuer, { alg }));
      assert.equal(answer.status, 200, answer.text);
    }
  });

  test("and is no longer configured has its keys forgotten", async () => {
    const { vars } = gate.settings;
    gate.settings.vars = { ...vars, TRUSTED_ISSUERS: "[]" };
    await gate.restart();
    assert.equal(await keySetCalls(gate), 0);
    gate.settings.vars = vars;
    await gate.restart();
    assertProblem(await gate.get(LIST, mint(gate, issuer)), 503, "issuer-unavailable");
  });
});
