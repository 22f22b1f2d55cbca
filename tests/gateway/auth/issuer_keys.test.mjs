/** Issuer keys. For one issuer, 400 forged tokens cause at most four fetches of its key set. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { Issuer, newSigningKey, signToken } from "../../harness/issuer.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  PROJECT,
  trust,
  useGate,
  useServer,
} from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const FORGED_TOKENS = 400;
const CONCURRENCY = 100;
/** The gateway fetches the key set once for the first token, and once for an unknown kid. */
const MAX_FETCHES = 4;

const bearer = (token) => ({ authorization: `Bearer ${token}` });

const RULE = { claims: { repository: "acme/docs" }, projects: [PROJECT], scope: EVERY_SCOPE };

const mint = (gate, issuer, options) =>
  bearer(gate.known(issuer.mint(issuer.githubClaims(), options)));

describe("an attacker with 400 forged tokens and random kids", () => {
  const attackerKey = newSigningKey();
  const issuer = useServer(new Issuer());
  const gate = useGate("issuer-keys-attack", () => ({ gateway: { vars: trust(issuer, [RULE]) } }));

  test("fetches a key set at most 4 times for 400 forged tokens with random kids", async () => {
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
    const fetches = issuer.jwksRequests;
    assert.ok(fetches >= 1 && fetches <= MAX_FETCHES, `${fetches} fetches from the issuer`);
  });
});

/** Responses that Cloudflare's cache can send for the first request of an isolate. */
const CACHED = {
  "a valid key set": [{}, 1],
  "a key set without the token's key": [{ body: '{"keys":[]}' }, 2],
  "an error": [{ status: 500 }, 2],
  "a redirect": [{ redirect: "http://127.0.0.1:1/" }, 2],
  "a page": [{ garbage: true }, 2],
  "32 MiB": [{ huge: true }, 2],
};

describe("a cache between the gateway and an issuer", () => {
  const issuers = {};
  for (const [what, [cached]] of Object.entries(CACHED)) {
    issuers[what] = useServer(new Issuer());
    issuers[what].setFault({ cached });
  }
  const gate = useGate("issuer-keys-cache", () => ({
    gateway: { vars: trust(Object.values(issuers), [RULE]) },
  }));

  for (const [what, [, requests]] of Object.entries(CACHED)) {
    test(`accepts the issuer's token if the cached response is ${what}`, async () => {
      const issuer = issuers[what];
      const pending = Array.from({ length: 20 }, () => gate.get(LIST, mint(gate, issuer)));
      for (const answer of await Promise.all(pending)) {
        assert.equal(answer.status, 200, answer.text);
      }
      assert.equal(issuer.jwksRequests, requests);
    });
  }

  test("finds a new key that the cached key set does not have", async () => {
    const issuer = issuers["a valid key set"];
    const old = JSON.stringify(issuer.jwks());
    issuer.rotate();
    issuer.setFault({ cached: { body: old } });
    const answer = await gate.get(LIST, mint(gate, issuer));
    assert.equal(answer.status, 200, answer.text);
  });
});
