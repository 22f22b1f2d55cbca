/**
 * Tokens and requests that pretend: forged, swapped, smuggled. Each is refused, nothing goes
 * upstream, and nothing is told. Where a published advisory of another gateway describes an
 * attack, the test names it.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { signToken, withWrongSignature } from "../harness/issuer.mjs";
import { LOGS } from "../harness/process.mjs";
import { mintToken } from "../harness/token.mjs";
import {
  access,
  assertion,
  bearer,
  CANARY,
  foreign,
  gate,
  INVALID,
  issuers,
  LIST,
  lacks,
  MISSING,
  NOT_ALLOWED,
  NOT_MAPPED,
  OTHER,
  odd,
  own,
  REALM,
  trusted,
  workflow,
} from "./attacks/fixtures.mjs";
import { assertProblem, startGate, VIEWS } from "./gate.mjs";

// One rule each, all at one gateway; the tests below come after all of them.
import "./attacks/signatures.mjs";
import "./attacks/keys.mjs";
import "./attacks/claims.mjs";
import "./attacks/scopes.mjs";
import "./attacks/requests.mjs";
import "./attacks/key_sets.mjs";

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
