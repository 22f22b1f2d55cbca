import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertNothingSent, assertSignedOut, Browser, openSession, WRITES } from "../browser.mjs";
import { ALLOWED_ORIGIN, before, JOBS, useGate } from "../recorded_gateway.mjs";

describe("requests from other sites", () => {
  const CROSS_SITE = ["Sec-Fetch-Site", "cross-site"];
  const gate = useGate("sessions-cross-site");
  let victim;

  before(async () => {
    victim = await openSession(gate);
  });

  /** Returns the header fields of requests from other pages than the gateway's own. */
  function crossSiteFields() {
    const [evil, own] = ["https://evil.example", `http://${gate.host}`];
    return [
      ...[evil, ALLOWED_ORIGIN, own].map((origin) => [["Origin", origin], CROSS_SITE]),
      ...[evil, ALLOWED_ORIGIN, "null", `https://${gate.host}`].map((origin) => [
        ["Origin", origin],
      ]),
      [
        ["Origin", own],
        ["Sec-Fetch-Site", "same-site"],
      ],
    ];
  }

  test("rejects cross-site writes with a session cookie, from forms and from fetch (CSRF)", async () => {
    await assertNothingSent(gate, async () => {
      const withoutOrigin = [[], [["Sec-Fetch-Site", "none"]], [CROSS_SITE]];
      for (const headers of [...crossSiteFields(), ...withoutOrigin]) {
        for (const request of WRITES) {
          const answer = await victim.send({ ...request, headers });
          assert.equal(answer.status, 403, `${JSON.stringify(headers)} ${answer.text}`);
          assert.match(answer.json.type, /\/(cross-site|origin-not-allowed)$/);
        }
      }
      for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
        const headers = [
          ["Origin", "https://evil.example"],
          ["Content-Type", type],
        ];
        const form = { method: "POST", target: JOBS, headers, body: '{"prompt":"x"}' };
        assert.equal((await victim.send(form)).status, 403);
      }
    });
  });
});

describe("planted, forged and misplaced cookies", () => {
  const gate = useGate("sessions-cookies");

  test("creates a new session cookie at sign-in, whatever cookie was planted before", async () => {
    const attacker = await openSession(gate, { sub: "mallory" });
    const ended = await openSession(gate, { sub: "mallory" });
    const endedCookie = ended.cookie;
    await ended.signOut();
    for (const planted of [attacker.cookie, endedCookie, "A".repeat(86), "known"]) {
      const victim = new Browser(gate, planted);
      await victim.signIn();
      assert.notEqual(victim.cookie, planted);
      assert.equal((await victim.get("/session")).json.subject, "alice");
      await assertSignedOut(new Browser(gate, planted));
    }
    const cookies = new Set();
    for (let n = 0; n < 20; n++) cookies.add((await openSession(gate)).cookie);
    assert.equal(cookies.size, 20);
  });
});
