import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Issuer } from "../../harness/issuer.mjs";
import { newSecret } from "../../harness/token.mjs";
import {
  assertNothingSent,
  assertSignedOut,
  Browser,
  LIST,
  nowInSeconds,
  openSession,
  READS,
  SESSION_COOKIE,
  WRITES,
} from "../browser.mjs";
import { exportOf, readIncomplete, splitLines } from "../expected_exports.mjs";
import {
  assertCommonHead,
  assertProblem,
  EVERY_SCOPE,
  PROJECT,
  trust,
  useGate,
  useServer,
  VIEWS,
} from "../recorded_gateway.mjs";

describe("a session opened with a token", () => {
  const gate = useGate("sessions", { stored: true });

  test("opens a session for the token's remaining lifetime and describes it", async () => {
    const browser = new Browser(gate);
    const exp = nowInSeconds() + 600;
    const answer = await browser.signIn(gate.token({ exp }));
    assertCommonHead(answer);
    const session = {
      issuer: null,
      subject: "alice",
      projects: [PROJECT],
      archivedProjects: [],
      scopes: EVERY_SCOPE.split(" "),
      keepsPrompts: "whole",
      expiresAt: exp * 1000,
    };
    assert.deepEqual(answer.json, session);
    const cookie = answer.header("set-cookie");
    const pattern =
      /^__Host-quillgate=[\w-]{86}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=(\d+)$/;
    const [, lifetime] = pattern.exec(cookie) ?? assert.fail(cookie);
    assert.ok(Number(lifetime) <= 600 && Number(lifetime) > 500, lifetime);
    const again = await browser.get("/session");
    assert.deepEqual([again.status, again.json], [200, session]);
    assert.equal(again.header("set-cookie"), undefined);
  });

  test("accepts a session for a typed address, with responses that must be revalidated", async () => {
    const browser = await openSession(gate);
    const typed = await browser.get(VIEWS, { headers: [["Sec-Fetch-Site", "none"]] });
    assert.equal(typed.status, 200);
    assert.equal(typed.header("cache-control"), "private, no-cache");
    const known = ["If-None-Match", typed.header("etag")];
    const same = await browser.get(VIEWS, { headers: [...browser.sameOrigin, known] });
    assert.deepEqual([same.status, same.header("cache-control")], [304, "private, no-cache"]);
    await browser.signOut();
    assertProblem(await browser.get(VIEWS), 401, "missing-token");
  });

  test("rejects a stolen cookie everywhere after sign-out", async () => {
    const browser = await openSession(gate);
    const thief = new Browser(gate, browser.cookie);
    assert.equal((await thief.get(VIEWS)).status, 200);
    const ended = await browser.signOut();
    assert.equal(ended.status, 204);
    const cleared = `${SESSION_COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
    assert.equal(ended.header("set-cookie"), cleared);
    assert.equal(browser.cookie, undefined);
    await assertSignedOut(thief);
    for (const other of [thief, new Browser(gate)]) {
      const again = await other.signOut();
      assert.deepEqual([again.status, again.header("set-cookie")], [204, cleared]);
    }
  });

  test("keeps ended sessions ended and open sessions open after a restart", async () => {
    const [kept, ended] = [await openSession(gate), await openSession(gate)];
    const stolen = new Browser(gate, ended.cookie);
    await ended.signOut();
    await gate.restart();
    assert.equal((await kept.get("/session")).status, 200);
    await assertSignedOut(stolen);
  });

  test("ends a session when its token expires", async () => {
    // The token must live for more than a second. Otherwise, the cookie's Max-Age would be 0.
    const browser = await openSession(gate, { exp: nowInSeconds() + 3 });
    let answer = await browser.get("/session");
    assert.equal(answer.status, 200);
    while (answer.status === 200) answer = await browser.get("/session");
    await assertNothingSent(gate, async () => {
      for (const target of READS) assert.equal((await browser.get(target)).status, 401);
      for (const request of WRITES) assert.equal((await browser.send(request)).status, 401);
    });
    // The response is `session-ended` once the session's alarm has deleted the session.
    while (!answer.text.includes("session-ended")) answer = await browser.get("/session");
    assertProblem(answer, 401, "session-ended");
  });

  test("limits a caller to 60 new sessions per hour", async () => {
    const busy = gate.token({ sub: "busy" });
    const post = { method: "POST", target: "/session", json: { token: busy } };
    const first = new Browser(gate);
    for (let opened = 0; opened < 60; opened += 1) {
      const browser = opened === 0 ? first : new Browser(gate);
      assert.equal((await browser.send(post)).status, 201);
    }
    const late = new Browser(gate);
    const answer = await late.send(post);
    const problem = assertProblem(answer, 429, "quota-exceeded");
    assert.equal(problem.detail, "a caller may open 60 sessions in any 3600 seconds");
    assert.match(answer.header("retry-after"), /^[1-9]\d*$/);
    assert.equal(answer.header("set-cookie"), undefined);
    // The limit does not affect reads or other callers.
    assert.equal((await first.get(LIST)).status, 200);
    assert.equal((await gate.get(LIST, { authorization: `Bearer ${busy}` })).status, 200);
    await late.signIn();
  });
});

describe("sign-out", () => {
  const PAGE_ROWS = 250;

  const gate = useGate("sessions-sign-out", {
    upstream: { pages: 2600, analyticsLimit: 1e6 },
    gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
  });

  test("ends an export in progress when the caller signs out", async () => {
    const browser = await openSession(gate);
    const query = { format: "ndjson", dateFrom: "2024-01-01", dateTo: "2024-03-01" };
    await gate.upstream.hold({ target: "offset=500" });
    const exporting = browser.get(exportOf("views", query));
    await gate.upstream.untilHeld(1);
    const before = await gate.received();
    await browser.signOut();
    await gate.upstream.release();
    const answer = await exporting;
    assert.deepEqual([answer.status, answer.complete], [200, true], answer.text.slice(0, 500));
    const { incomplete } = readIncomplete(answer.text, "ndjson");
    assert.equal(incomplete.problem, "/problems/session-ended");
    const rows = Number(incomplete.cursor);
    assert.ok(rows <= 3 * PAGE_ROWS, `${rows} rows`);
    const later = (await gate.received()) - before;
    assert.ok(later <= 1, `${later} requests besides the prefetched page`);

    const other = await openSession(gate);
    const whole = await other.get(exportOf("views", query));
    assert.equal(splitLines(whole.text).length, 2600);
  });
});

describe("changes after a session was opened", () => {
  const issuer = useServer(new Issuer());
  const rule = (changes) => ({
    claims: { repository: "acme/docs" },
    projects: [PROJECT],
    scope: EVERY_SCOPE,
    ...changes,
  });
  const gate = useGate("sessions-changes", () => ({
    stored: true,
    gateway: { vars: trust(issuer, [rule()]) },
  }));

  async function restartWith(vars, secret = gate.secret) {
    gate.settings.vars = vars;
    gate.settings.secret = secret;
    await gate.restart();
  }

  test("applies changed rules, revocations, issuers and secrets to open sessions", async () => {
    const own = await openSession(gate, { jti: "an-id" });
    const foreign = new Browser(gate);
    const token = gate.known(issuer.mint(issuer.githubClaims()));
    await foreign.signIn(token);
    assert.equal((await foreign.get(VIEWS)).status, 200);
    const described = (await foreign.get("/session")).json;
    assert.deepEqual([described.issuer, described.projects], [issuer.url, [PROJECT]]);

    await restartWith(trust(issuer, [rule({ scope: "jobs:read" })]));
    await assertNothingSent(gate, async () => {
      assertProblem(await foreign.get(VIEWS), 403, "insufficient-scope");
      assertProblem(await foreign.send(WRITES[0]), 403, "insufficient-scope");
    });
    assert.deepEqual((await foreign.get("/session")).json.scopes, ["jobs:read"]);

    await restartWith(trust(issuer, [rule({ projects: ["other-docs"] })]));
    await assertNothingSent(gate, async () => {
      assertProblem(await foreign.get(VIEWS), 403, "project-not-allowed");
    });

    await restartWith({
      ...trust(issuer, [rule()]),
      REVOKED_TOKENS: JSON.stringify(["an-id", { iss: issuer.url, claims: { actor: "alice" } }]),
    });
    for (const browser of [own, foreign]) await assertSignedOut(browser, "invalid-token");

    const ineffective = JSON.stringify([{ iss: issuer.url, sub: "alice" }]);
    await restartWith({ TRUSTED_ISSUERS: "[]", REVOKED_TOKENS: ineffective });
    await assertSignedOut(foreign, "invalid-token");
    assert.ok(gate.gateway.log().includes(`TRUSTED_ISSUERS does not list: ${issuer.url}`));
    assert.equal((await own.get("/session")).status, 200);

    const older = gate.secret;
    await restartWith({}, `${newSecret()},${older}`);
    assert.equal((await own.get("/session")).status, 200);
    await restartWith({}, newSecret());
    await assertSignedOut(own);
  });
});
