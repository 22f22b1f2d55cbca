/**
 * Sessions of the page: what a cookie lets in, and every way to get in without being the one who
 * signed in. What is refused costs no request upstream.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { forgeNone, newSigningKey, startIssuer } from "../harness/issuer.mjs";
import { newSecret } from "../harness/token.mjs";
import { exportOf, readIncomplete, splitLines } from "./exports.mjs";
import {
  ALLOWED_ORIGIN,
  assertCommonHead,
  assertProblem,
  EVERY_SCOPE,
  JOBS,
  PROJECT,
  startGate,
  VIEWS,
} from "./gate.mjs";

const NAME = "__Host-quillgate";
const SIGN_IN_NAME = "__Host-quillgate-sign-in";
const JSON_TYPE = ["Content-Type", "application/json"];
/** The longest that a session lasts. */
const LONGEST_SESSION_MS = 90 * 86_400_000;
const LIST = `/v2/agent/${PROJECT}/jobs`;
const now = () => Math.floor(Date.now() / 1000);

/** Each operation that a cookie might be used for, with a body where it has one. */
const READS = [
  VIEWS,
  `${VIEWS}/export?format=csv`,
  `${VIEWS}/daily?dateFrom=2024-01-01&dateTo=2024-02-01`,
  `${VIEWS}/daily/status`,
  `${VIEWS}/daily/backfill?dateFrom=2024-01-01`,
  LIST,
  `${LIST}/events`,
  `${JOBS}/j1`,
  `${JOBS}/j1/events`,
  `${JOBS}/j1/record`,
  "/healthz?deep",
];
const WRITES = [
  { method: "POST", target: JOBS, json: { prompt: "x" } },
  { method: "POST", target: `${JOBS}/j1/message`, json: { prompt: "x" } },
  { method: "DELETE", target: `${JOBS}/j1/record` },
  { method: "POST", target: `${VIEWS}/daily/backfill`, json: { dateFrom: "2024-01-01" } },
  { method: "DELETE", target: `/healthz/closures/create-job?project=${PROJECT}` },
  { method: "DELETE", target: "/healthz/closures/analytics" },
];

/** A browser: its cookies, and the header fields that its own page's requests have. */
class Browser {
  constructor(gate) {
    this.gate = gate;
    this.cookies = new Map();
  }

  get cookie() {
    return this.cookies.get(NAME);
  }

  get own() {
    return [
      ["Origin", `http://${this.gate.host}`],
      ["Sec-Fetch-Site", "same-origin"],
    ];
  }

  /** Sends a request with the cookies; as the page's own unless other header fields are given. */
  async send({ headers = this.own, ...request }) {
    const cookies = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const all = cookies === "" ? headers : [...headers, ["Cookie", cookies]];
    const answer = await this.gate.send({ authorization: null, ...request, headers: all });
    const set = answer.header("set-cookie");
    if (set !== undefined) this.#keep(set);
    return answer;
  }

  #keep(text) {
    const [, name, value, lifetime] = /^([^=]+)=([^;]*);.*; Max-Age=(\d+)$/.exec(text);
    if (lifetime === "0") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  get(target, options) {
    return this.send({ target, ...options });
  }

  async open(token = this.gate.token()) {
    const answer = await this.send({ method: "POST", target: "/session", json: { token } });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  }

  end(options) {
    return this.send({ method: "DELETE", target: "/session", ...options });
  }
}

async function openSession(gate, changes) {
  const browser = new Browser(gate);
  await browser.open(gate.token(changes));
  return browser;
}

/** Runs something that must not reach the upstream. */
async function assertNothingSent(gate, run) {
  const before = await gate.received();
  await run();
  assert.equal((await gate.received()) - before, 0, "the upstream was asked");
}

/** Asserts that a browser's cookie lets nobody in anywhere. */
async function assertSignedOut(browser, kind = "session-ended") {
  await assertNothingSent(browser.gate, async () => {
    for (const target of ["/session", ...READS]) {
      assertProblem(await browser.get(target), 401, kind);
    }
    for (const request of WRITES) assertProblem(await browser.send(request), 401, kind);
  });
}

describe("a session of a token", () => {
  let gate;
  let state;

  before(async () => {
    state = mkdtempSync(join(tmpdir(), "quillgate-sessions-"));
    gate = await startGate("sessions", { gateway: { state } });
  });
  after(async () => {
    await gate?.stop();
    rmSync(state, { recursive: true, force: true });
  });

  test("is not asked for by a request without its cookie, nor by a forged one", async () => {
    await gate.get(VIEWS);
    await gate.get(VIEWS, { headers: [["Cookie", `${NAME}=x`]] });
    const forged = new Browser(gate);
    forged.cookies.set(NAME, "A".repeat(86));
    await assertSignedOut(forged);
    const files = readdirSync(join(state, "v3", "do"), { recursive: true }).map(String);
    const objects = files.filter((file) => /[0-9a-f]{64}\.sqlite$/.test(file)).join();
    assert.match(objects, /OrgGate/);
    assert.doesNotMatch(objects, /Session/);
  });

  test("is opened for as long as the token has left, and says whose it is", async () => {
    const browser = new Browser(gate);
    const exp = now() + 600;
    const answer = await browser.open(gate.token({ exp }));
    assertCommonHead(answer);
    const session = {
      issuer: null,
      subject: "alice",
      projects: [PROJECT],
      archivedProjects: [],
      scopes: EVERY_SCOPE.split(" "),
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

  test("reads and writes as its token does, and no more", async () => {
    const browser = await openSession(gate);
    for (const target of [VIEWS, LIST]) assert.equal((await browser.get(target)).status, 200);
    const created = await browser.send(WRITES[0]);
    assert.equal(created.status, 201, created.text);
    const reader = await openSession(gate, { scope: "jobs:read" });
    assert.equal((await reader.get(LIST)).status, 200);
    await assertNothingSent(gate, async () => {
      assertProblem(await reader.get(VIEWS), 403, "insufficient-scope");
      assertProblem(await reader.send(WRITES[0]), 403, "insufficient-scope");
      const other = await reader.get("/v2/agent/other-docs/jobs");
      assertProblem(other, 403, "project-not-allowed");
    });
  });

  test("is read by a typed address, and its answers are asked for again each time", async () => {
    const browser = await openSession(gate);
    const typed = await browser.get(VIEWS, { headers: [["Sec-Fetch-Site", "none"]] });
    assert.equal(typed.status, 200);
    assert.equal(typed.header("cache-control"), "private, no-cache");
    const none = ["If-None-Match", typed.header("etag")];
    const same = await browser.get(VIEWS, { headers: [...browser.own, none] });
    assert.deepEqual([same.status, same.header("cache-control")], [304, "private, no-cache"]);
    await browser.end();
    assertProblem(await browser.get(VIEWS), 401, "missing-token");
  });

  test("does not count beside a token, which does", async () => {
    const browser = await openSession(gate, { sub: "bob" });
    const authorization = `Bearer ${gate.token({ sub: "alice" })}`;
    const both = await browser.get(LIST, { authorization });
    assert.equal(both.status, 200);
    assert.equal((await gate.logged(both.header("x-request-id"))).subject, "alice");
    const wrong = await browser.get(LIST, { authorization: "Bearer x" });
    assertProblem(wrong, 401, "invalid-token");
  });

  test("ends everywhere with sign-out: a stolen cookie is worth nothing", async () => {
    const browser = await openSession(gate);
    const thief = new Browser(gate);
    thief.cookies.set(NAME, browser.cookie);
    assert.equal((await thief.get(VIEWS)).status, 200);
    const ended = await browser.end();
    assert.equal(ended.status, 204);
    const cleared = `${NAME}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
    assert.equal(ended.header("set-cookie"), cleared);
    assert.equal(browser.cookie, undefined);
    await assertSignedOut(thief);
    for (const other of [thief, new Browser(gate)]) {
      const again = await other.end();
      assert.deepEqual([again.status, again.header("set-cookie")], [204, cleared]);
    }
  });

  test("stays ended after a restart, and open when it was", async () => {
    const [kept, ended] = [await openSession(gate), await openSession(gate)];
    const stolen = new Browser(gate);
    stolen.cookies.set(NAME, ended.cookie);
    await ended.end();
    await gate.restart();
    assert.equal((await kept.get("/session")).status, 200);
    await assertSignedOut(stolen);
  });

  test("ends with its token", async () => {
    const browser = await openSession(gate, { exp: now() + 2 });
    let answer = await browser.get("/session");
    assert.equal(answer.status, 200);
    while (answer.status === 200) answer = await browser.get("/session");
    await assertNothingSent(gate, async () => {
      for (const target of READS) assert.equal((await browser.get(target)).status, 401);
      for (const request of WRITES) assert.equal((await browser.send(request)).status, 401);
    });
    // Its alarm has deleted it.
    while (!answer.text.includes("session-ended")) answer = await browser.get("/session");
    assertProblem(answer, 401, "session-ended");
  });

  test("is never opened by what is no good token", async () => {
    const browser = new Browser(gate);
    await assertNothingSent(gate, async () => {
      for (const [body, status, kind] of [
        [{ token: gate.token({}, newSecret()) }, 401, "invalid-token"],
        [{ token: gate.token({ exp: now() - 1, iat: now() - 10 }) }, 401, "invalid-token"],
        [{ token: "x".repeat(9_000) }, 401, "invalid-token"],
        [{ token: "" }, 401, "invalid-token"],
        [{}, 401, "missing-token"],
        [{ token: 5 }, 400, "invalid-request"],
        [{ token: gate.token(), cookie: "x" }, 400, "invalid-request"],
        [[gate.token()], 400, "invalid-request"],
      ]) {
        const answer = await browser.send({ method: "POST", target: "/session", json: body });
        assertProblem(answer, status, kind);
        assert.equal(answer.header("set-cookie"), undefined);
      }
      const token = gate.token();
      const form = [...browser.own, ["Content-Type", "application/x-www-form-urlencoded"]];
      const request = { method: "POST", target: "/session", headers: form, body: `token=${token}` };
      assertProblem(await browser.send(request), 415, "unsupported-media-type");
      // A token elsewhere than in the body opens nothing.
      const authorization = `Bearer ${token}`;
      const empty = { method: "POST", target: "/session", json: {}, authorization };
      assertProblem(await browser.send(empty), 401, "missing-token");
      assertProblem(await gate.get("/session"), 401, "missing-token");
    });
  });

  test("may be opened 60 times an hour by one caller", async () => {
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
    // It says nothing about reads, and nothing about anybody else.
    assert.equal((await first.get(LIST)).status, 200);
    assert.equal((await gate.get(LIST, { authorization: `Bearer ${busy}` })).status, 200);
    await late.open();
  });

  test("the log has neither cookies nor tokens", async () => {
    const browser = await openSession(gate);
    const { cookie } = browser;
    for (const target of ["/session", VIEWS]) await browser.get(target);
    const { header } = await browser.end();
    assert.ok(header);
    assert.ok(!gate.gateway.log().includes(cookie));
    assert.ok(!gate.gateway.log().includes(NAME));
    await gate.assertDiscreet();
  });
});

describe("sign-out", () => {
  const PAGE_ROWS = 250;
  let gate;

  before(async () => {
    gate = await startGate("sessions-sign-out", {
      upstream: { pages: 2600, analyticsLimit: 1e6 },
      gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
    });
  });
  after(() => gate?.stop());

  test("ends an export that is under way", async () => {
    const browser = await openSession(gate);
    const query = { format: "ndjson", dateFrom: "2024-01-01", dateTo: "2024-03-01" };
    await gate.upstream.hold({ target: "offset=500" });
    const exporting = browser.get(exportOf("views", query));
    await gate.upstream.untilHeld(1);
    const before = await gate.received();
    await browser.end();
    await gate.upstream.release();
    const answer = await exporting;
    assert.deepEqual([answer.status, answer.complete], [200, true], answer.text.slice(0, 500));
    const { incomplete } = readIncomplete(answer.text, "ndjson");
    assert.equal(incomplete.problem, "/problems/session-ended");
    const rows = Number(incomplete.cursor);
    assert.ok(rows <= 3 * PAGE_ROWS, `${rows} rows`);
    const later = (await gate.received()) - before;
    assert.ok(later <= 1, `${later} requests beside the one that was asked for ahead`);

    const other = await openSession(gate);
    const whole = await other.get(exportOf("views", query));
    assert.equal(splitLines(whole.text).length, 2600);
  });
});

describe("a page elsewhere", () => {
  let gate;
  let victim;

  before(async () => {
    gate = await startGate("sessions-cross-site");
    victim = await openSession(gate);
  });
  after(() => gate?.stop());

  /** What tells where a request comes from, of pages that are not the gateway's own. */
  const elsewhere = () => [
    [
      ["Origin", "https://evil.example"],
      ["Sec-Fetch-Site", "cross-site"],
    ],
    [["Origin", "https://evil.example"]],
    [
      ["Origin", ALLOWED_ORIGIN],
      ["Sec-Fetch-Site", "cross-site"],
    ],
    [["Origin", ALLOWED_ORIGIN]],
    [["Origin", "null"]],
    [["Origin", `https://${gate.host}`]],
    [
      ["Origin", `http://${gate.host}`],
      ["Sec-Fetch-Site", "same-site"],
    ],
    [
      ["Origin", `http://${gate.host}`],
      ["Sec-Fetch-Site", "cross-site"],
    ],
  ];

  test("changes nothing by a form or by fetch, though the cookie came along", async () => {
    await assertNothingSent(gate, async () => {
      const silent = [[], [["Sec-Fetch-Site", "none"]], [["Sec-Fetch-Site", "cross-site"]]];
      for (const headers of [...elsewhere(), ...silent]) {
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

  test("reads nothing, by a subresource or by fetch", async () => {
    await assertNothingSent(gate, async () => {
      const sites = [[["Sec-Fetch-Site", "cross-site"]], [["Sec-Fetch-Site", "same-site"]]];
      for (const headers of [...elsewhere(), ...sites]) {
        for (const target of ["/session", ...READS]) {
          const answer = await victim.get(target, { headers });
          assert.equal(answer.status, 403, `${target} ${JSON.stringify(headers)}`);
          assert.ok(!answer.text.includes("alice"));
        }
      }
    });
  });

  test("is never allowed credentials", async () => {
    const preflight = [
      ["Origin", ALLOWED_ORIGIN],
      ["Access-Control-Request-Method", "POST"],
    ];
    for (const target of ["/session", JOBS, VIEWS]) {
      const asked = await gate.send({
        ...{ method: "OPTIONS", target, authorization: null, headers: preflight },
      });
      assert.equal(asked.status, 204);
      assert.equal(asked.header("access-control-allow-credentials"), undefined);
      const got = await victim.get(target, { headers: [["Origin", ALLOWED_ORIGIN]] });
      assert.equal(got.header("access-control-allow-credentials"), undefined);
    }
  });

  test("signs nobody in, so that nobody works in an attacker's name", async () => {
    const token = gate.token({ sub: "mallory" });
    for (const headers of [...elsewhere(), [], [["Sec-Fetch-Site", "none"]]]) {
      const target = "/session";
      const answer = await victim.send({ method: "POST", target, json: { token }, headers });
      assert.equal(answer.status, 403);
      assert.equal(answer.header("set-cookie"), undefined);
    }
    assert.equal((await victim.get("/session")).json.subject, "alice");
  });

  test("signs nobody out", async () => {
    for (const headers of [...elsewhere(), [], [["Sec-Fetch-Site", "none"]]]) {
      const answer = await victim.end({ headers });
      assert.equal(answer.status, 403);
      assert.equal(answer.header("set-cookie"), undefined);
    }
    assert.equal((await victim.get("/session")).status, 200);
  });
});

describe("a cookie that somebody else knows", () => {
  let gate;

  before(async () => {
    gate = await startGate("sessions-cookies");
  });
  after(() => gate?.stop());

  test("is not the one after sign-in, whatever was planted before", async () => {
    const attacker = await openSession(gate, { sub: "mallory" });
    const ended = await openSession(gate, { sub: "mallory" });
    const endedCookie = ended.cookie;
    await ended.end();
    for (const planted of [attacker.cookie, endedCookie, "A".repeat(86), "known"]) {
      const victim = new Browser(gate);
      victim.cookies.set(NAME, planted);
      await victim.open();
      assert.notEqual(victim.cookie, planted);
      assert.equal((await victim.get("/session")).json.subject, "alice");
      const thief = new Browser(gate);
      thief.cookies.set(NAME, planted);
      await assertSignedOut(thief);
    }
    const cookies = new Set();
    for (let n = 0; n < 20; n++) cookies.add((await openSession(gate)).cookie);
    assert.equal(cookies.size, 20);
  });

  test("is refused when it is forged, too long, or there twice", async () => {
    const { cookie } = await openSession(gate);
    const flipped = (cookie[0] === "A" ? "B" : "A") + cookie.slice(1);
    await assertNothingSent(gate, async () => {
      for (const value of [
        "",
        "x",
        "A".repeat(86),
        flipped,
        cookie.slice(0, -1),
        `${cookie}A`,
        `"${cookie}"`,
        `${cookie}=`,
        cookie.toLowerCase(),
        encodeURIComponent(`${cookie};`),
        gate.token(),
        "A".repeat(6_000),
      ]) {
        for (const target of ["/session", VIEWS]) {
          const headers = [["Cookie", `${NAME}=${value}`]];
          const answer = await gate.get(target, { authorization: null, headers });
          assertProblem(answer, 401, "session-ended");
        }
      }
      for (const headers of [
        [["Cookie", `${NAME}=${cookie}; ${NAME}=${cookie}`]],
        [["Cookie", `${NAME}=x; a=b; ${NAME}=${cookie}`]],
        [
          ["Cookie", `${NAME}=${cookie}`],
          ["Cookie", `${NAME}=x`],
        ],
      ]) {
        const answer = await gate.get(VIEWS, { authorization: null, headers });
        assertProblem(answer, 401, "session-ended");
      }
    });
  });

  test("counts in its own place and under its own name alone", async () => {
    const { cookie } = await openSession(gate);
    await assertNothingSent(gate, async () => {
      for (const headers of [
        [["Cookie", `quillgate=${cookie}`]],
        [["Cookie", `__host-quillgate=${cookie}`]],
        [["Cookie", `__Secure-quillgate=${cookie}`]],
        [["Cookie", `${SIGN_IN_NAME}=${cookie}`]],
        [["X-Cookie", `${NAME}=${cookie}`]],
        [["Cookie2", `${NAME}=${cookie}`]],
      ]) {
        const answer = await gate.get(VIEWS, { authorization: null, headers });
        assertProblem(answer, 401, "missing-token");
      }
      const query = await gate.get(`${VIEWS}?${NAME}=${cookie}`, { authorization: null });
      assertProblem(query, 401, "missing-token");
      const bearer = await gate.get(VIEWS, { authorization: `Bearer ${cookie}` });
      assertProblem(bearer, 401, "invalid-token");
    });
  });

  test("is in no line of the log", () => gate.assertDiscreet());
});

describe("what changes after a session was opened", () => {
  let gate;
  let issuer;
  let state;

  const rule = (changes) => ({
    claims: { repository: "acme/docs" },
    projects: [PROJECT],
    scope: EVERY_SCOPE,
    ...changes,
  });
  const trust = (...rules) => {
    const entry = { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules };
    return JSON.stringify([entry]);
  };

  before(async () => {
    state = mkdtempSync(join(tmpdir(), "quillgate-sessions-changes-"));
    issuer = await startIssuer();
    gate = await startGate("sessions-changes", {
      gateway: { state, vars: { TRUSTED_ISSUERS: trust(rule()) } },
    });
  });
  after(async () => {
    await gate?.stop();
    await issuer?.stop();
    rmSync(state, { recursive: true, force: true });
  });

  /** Starts the gateway again with other settings. */
  async function restartWith(vars, secret = gate.secret) {
    gate.settings.vars = vars;
    gate.settings.secret = secret;
    await gate.restart();
  }

  test("is not for ever, though an issuer's token is", async () => {
    const browser = new Browser(gate);
    const began = Date.now();
    const exp = Date.UTC(2500, 0) / 1000;
    const answer = await browser.open(gate.known(issuer.mint(issuer.githubClaims({ exp }))));
    const { expiresAt } = answer.json;
    const [least, most] = [began, Date.now()].map((instant) => instant + LONGEST_SESSION_MS);
    assert.ok(expiresAt >= least && expiresAt <= most, `${expiresAt}`);
    const [, lifetime] = /; Max-Age=(\d+)$/.exec(answer.header("set-cookie"));
    assert.equal(Number(lifetime), LONGEST_SESSION_MS / 1000);
    const again = await browser.get("/session");
    assert.deepEqual([again.status, again.json.expiresAt], [200, expiresAt]);
    // Its alarm leaves it open.
    await gate.restart();
    assert.equal((await browser.get("/session")).status, 200);
  });

  test("counts at once: rules, revocations, issuers and secrets", async () => {
    const own = await openSession(gate, { jti: "an-id" });
    const foreign = new Browser(gate);
    const token = gate.known(issuer.mint(issuer.githubClaims()));
    await foreign.open(token);
    assert.equal((await foreign.get(VIEWS)).status, 200);
    const described = (await foreign.get("/session")).json;
    assert.deepEqual([described.issuer, described.projects], [issuer.url, [PROJECT]]);

    await restartWith({ TRUSTED_ISSUERS: trust(rule({ scope: "jobs:read" })) });
    await assertNothingSent(gate, async () => {
      assertProblem(await foreign.get(VIEWS), 403, "insufficient-scope");
      assertProblem(await foreign.send(WRITES[0]), 403, "insufficient-scope");
    });
    assert.deepEqual((await foreign.get("/session")).json.scopes, ["jobs:read"]);

    await restartWith({ TRUSTED_ISSUERS: trust(rule({ projects: ["other-docs"] })) });
    await assertNothingSent(gate, async () => {
      assertProblem(await foreign.get(VIEWS), 403, "project-not-allowed");
    });

    await restartWith({
      TRUSTED_ISSUERS: trust(rule()),
      REVOKED_TOKENS: JSON.stringify(["an-id", { iss: issuer.url, claims: { actor: "alice" } }]),
    });
    for (const browser of [own, foreign]) await assertSignedOut(browser, "invalid-token");

    await restartWith({ TRUSTED_ISSUERS: "[]" });
    await assertSignedOut(foreign, "invalid-token");
    assert.equal((await own.get("/session")).status, 200);

    const older = gate.secret;
    await restartWith({}, `${newSecret()},${older}`);
    assert.equal((await own.get("/session")).status, 200);
    await restartWith({}, newSecret());
    await assertSignedOut(own);
    await gate.assertDiscreet();
  });
});

describe("with Cloudflare Access", () => {
  let gate;
  let issuer;

  before(async () => {
    issuer = await startIssuer();
    const rules = [{ claims: { type: "app" }, projects: [PROJECT], scope: EVERY_SCOPE }];
    const entry = { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules };
    const trusted = JSON.stringify([{ ...entry, header: "cf-access-jwt-assertion" }]);
    gate = await startGate("sessions-access", { gateway: { vars: { TRUSTED_ISSUERS: trusted } } });
  });
  after(async () => {
    await gate?.stop();
    await issuer?.stop();
  });

  test("a session needs no form", async () => {
    const browser = new Browser(gate);
    assert.equal((await browser.get("/session/methods")).json.access, true);
    const assertion = gate.known(issuer.mint(issuer.accessClaims()));
    const headers = [...browser.own, ["Cf-Access-Jwt-Assertion", assertion]];
    const request = { method: "POST", target: "/session", json: {} };
    const answer = await browser.send({ ...request, headers });
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await browser.get(VIEWS)).status, 200);
    await browser.end();
    assertProblem(await browser.get(VIEWS), 401, "missing-token");
  });

  test("a forged assertion or another page opens none", async () => {
    const browser = new Browser(gate);
    const claims = issuer.accessClaims();
    const forged = issuer.mint(claims, { key: newSigningKey(), kid: issuer.key().kid });
    const good = gate.known(issuer.mint(claims));
    const request = { method: "POST", target: "/session", json: {} };
    for (const [assertion, headers, status] of [
      [forged, browser.own, 401],
      [forgeNone(claims), browser.own, 401],
      [good, [["Sec-Fetch-Site", "cross-site"]], 403],
      [good, [["Origin", "https://evil.example"]], 403],
      [good, [], 403],
    ]) {
      const all = [...headers, ["Cf-Access-Jwt-Assertion", assertion]];
      const answer = await browser.send({ ...request, headers: all });
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.header("set-cookie"), undefined);
    }
    await gate.assertDiscreet();
  });
});

describe("sign-in at an issuer", () => {
  let gate;
  let issuer;
  let other;

  before(async () => {
    [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
    const both = [issuer, other];
    const rules = [{ claims: { sub: "carol" }, projects: [PROJECT], scope: "analytics:read" }];
    const trusted = both.map(({ url, jwksUrl }) => {
      return { issuer: url, audience: "quillgate", jwks: jwksUrl, rules };
    });
    const signIn = both.map(({ url, authorizeUrl, tokenUrl }, at) => ({
      ...{ name: ["Acme SSO", "Other"][at], issuer: url, clientId: `client-${at}` },
      ...{ authorizationEndpoint: authorizeUrl, tokenEndpoint: tokenUrl, scope: "openid email" },
    }));
    const vars = {
      TRUSTED_ISSUERS: JSON.stringify(trusted),
      SIGN_IN_ISSUERS: JSON.stringify(signIn),
      SIGN_IN_CLIENT_SECRET: JSON.stringify({ Other: "a-secret-of-the-other" }),
    };
    gate = await startGate("sessions-sign-in", { gateway: { vars } });
  });
  after(async () => {
    await gate?.stop();
    await Promise.all([issuer?.stop(), other?.stop()]);
  });

  const START = "/session/start?issuer=Acme%20SSO";
  const pathOf = ({ pathname, search }) => pathname + search;
  /** A browser on its way to the issuer: it has begun, and knows where it is sent. */
  async function begin(target = START, browser = new Browser(gate)) {
    const answer = await browser.get(target, { headers: [["Sec-Fetch-Site", "same-origin"]] });
    assert.equal(answer.status, 302, answer.text);
    return { browser, location: answer.header("location"), cookie: answer.header("set-cookie") };
  }
  /** Comes from the issuer's site, as a browser does: without the cookie that is `SameSite=Strict`. */
  function comeBack(browser, back, headers = []) {
    browser.cookies.delete(NAME);
    const all = [["Sec-Fetch-Site", "cross-site"], ...headers];
    return browser.get(pathOf(back), { headers: all });
  }

  function assertRefused(answer, status, kind) {
    assertProblem(answer, status, kind);
    assert.equal(answer.header("set-cookie"), undefined);
    assert.equal(answer.header("location"), undefined);
  }

  test("is offered by name, for a minute's keeping", async () => {
    const answer = await gate.get("/session/methods", { authorization: null });
    assert.deepEqual(answer.json, {
      token: true,
      access: false,
      issuers: [
        { name: "Acme SSO", href: START },
        { name: "Other", href: "/session/start?issuer=Other" },
      ],
    });
    assert.equal(answer.header("cache-control"), "public, max-age=60");
  });

  test("leads to the issuer and back, into a session", async () => {
    const { browser, location, cookie } = await begin(`${START}&return=%2F%3Froute%3Dviews`);
    const asked = new URL(location).searchParams;
    assert.equal(asked.get("redirect_uri"), `http://${gate.host}/session/callback`);
    assert.equal(asked.get("code_challenge_method"), "S256");
    assert.match(cookie, /; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const back = issuer.signIn(location);
    const answer = await comeBack(browser, back);
    assert.equal(answer.status, 303, answer.text);
    assert.equal(answer.header("location"), "/?route=views");
    assert.match(answer.header("set-cookie"), /; SameSite=Strict; Max-Age=36\d\d$/);
    const session = await browser.get("/session");
    assert.deepEqual([session.json.subject, session.json.scopes], ["carol", ["analytics:read"]]);
    assert.equal((await browser.get(VIEWS)).status, 200);
    assertProblem(await browser.get(LIST), 403, "insufficient-scope");
    assert.equal(issuer.tokenRequests.at(-1).client_secret, undefined);

    const log = gate.gateway.log();
    const secrets = [browser.cookie, back.searchParams.get("code"), asked.get("state")];
    for (const secret of secrets) assert.ok(!log.includes(secret), "a secret is in the log");
  });

  test("sends each issuer its own secret", async () => {
    const { browser, location } = await begin("/session/start?issuer=Other");
    assert.equal((await comeBack(browser, other.signIn(location))).status, 303);
    assert.equal(other.tokenRequests.at(-1).client_secret, "a-secret-of-the-other");
  });

  test("ends the session before, and its new one is fresh", async () => {
    const browser = await openSession(gate);
    const earlier = new Browser(gate);
    earlier.cookies.set(NAME, browser.cookie);
    const { location } = await begin(START, browser);
    assert.equal((await comeBack(browser, issuer.signIn(location))).status, 303);
    assert.notEqual(browser.cookie, earlier.cookie);
    await assertSignedOut(earlier);
  });

  test("that fails leaves the session before as it was", async () => {
    const browser = await openSession(gate);
    const earlier = new Browser(gate);
    earlier.cookies.set(NAME, browser.cookie);
    const { location } = await begin(START, browser);
    issuer.setTokenFault({ status: 400 });
    assertRefused(await comeBack(browser, issuer.signIn(location)), 400, "sign-in-failed");
    issuer.setTokenFault();
    assert.equal((await earlier.get("/session")).status, 200);
  });

  test("that fails leads a browser to the page, and says no more than the kind", async () => {
    const accept = (types) => [["Accept", types]];
    const page = accept("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    for (const [fault, status, kind] of [
      [{ status: 400 }, 400, "sign-in-failed"],
      [{ claims: { nonce: "another" } }, 401, "invalid-token"],
      [{ claims: { sub: "mallory" } }, 403, "identity-not-mapped"],
      [{ status: 500 }, 503, "issuer-unavailable"],
    ]) {
      issuer.setTokenFault(fault);
      const [shown, read] = [await begin(), await begin()];
      const led = await comeBack(shown.browser, issuer.signIn(shown.location), page);
      assert.deepEqual(
        [led.status, led.header("location"), led.text],
        [303, `/?sign-in-failed=${kind}`, ""],
      );
      assertCommonHead(led);
      assert.equal(led.header("set-cookie"), undefined);
      assert.equal((await gate.logged(led.header("x-request-id"))).problem, kind);
      const back = issuer.signIn(read.location);
      const json = accept("application/json");
      assertRefused(await comeBack(read.browser, back, json), status, kind);
    }
    issuer.setTokenFault();
    const stray = "/session/callback?state=secret-state&code=secret-code&error=secret-error";
    const led = await gate.get(stray, { authorization: null, headers: page });
    assert.deepEqual(
      [led.status, led.header("location")],
      [303, "/?sign-in-failed=sign-in-failed"],
    );
  });

  test("leads back to a path of its own page and nowhere else", async () => {
    for (const path of [
      "//evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "https://evil.example",
      "/\t/evil.example",
      "/\r\nset-cookie: a=b",
      "javascript:alert(1)",
      "evil",
      "",
      `/${"x".repeat(2_000)}`,
    ]) {
      const target = `${START}&return=${encodeURIComponent(path)}`;
      assertRefused(await gate.get(target, { authorization: null }), 400, "invalid-request");
    }
    const { browser, location } = await begin(`${START}&return=/x//y`);
    const answer = await comeBack(browser, issuer.signIn(location));
    assert.equal(answer.header("location"), "/x//y");
  });

  test("is not begun by another page, nor at an issuer that there is not", async () => {
    for (const headers of [
      [["Sec-Fetch-Site", "cross-site"]],
      [["Sec-Fetch-Site", "same-site"]],
      [["Origin", ALLOWED_ORIGIN]],
    ]) {
      assertRefused(await gate.get(START, { authorization: null, headers }), 403, "cross-site");
    }
    for (const name of ["", "acme sso", "Third", issuer.url]) {
      const target = `/session/start?issuer=${encodeURIComponent(name)}`;
      assertRefused(await gate.get(target, { authorization: null }), 404, "not-found");
    }
  });

  test("is concluded in the browser that has begun it, once", async () => {
    const tokenRequests = () => issuer.tokenRequests.length;
    const { browser, location } = await begin();
    const back = issuer.signIn(location);
    const before = tokenRequests();
    // The link that an attacker sends: signed in there, and not begun here.
    assertRefused(await comeBack(new Browser(gate), back), 400, "sign-in-failed");
    // The same, where the victim has begun a sign-in too.
    const victim = (await begin()).browser;
    assertRefused(await comeBack(victim, back), 400, "sign-in-failed");
    // A changed cookie: another way back, an end that is later.
    const seed = browser.cookies.get(SIGN_IN_NAME);
    for (const [at, part] of [
      [1, String(Date.now() + 1e9)],
      [3, Buffer.from("//evil.example").toString("base64url")],
    ]) {
      const parts = seed.split(".");
      parts[at] = part;
      const changed = new Browser(gate);
      changed.cookies.set(SIGN_IN_NAME, parts.join("."));
      assertRefused(await comeBack(changed, back), 400, "sign-in-failed");
    }
    assert.equal(tokenRequests(), before, "the code was not shown to the issuer");

    const copy = new Browser(gate);
    copy.cookies.set(SIGN_IN_NAME, seed);
    assert.equal((await comeBack(browser, back)).status, 303);
    // State, code and cookie once more; and the state with a fresh code.
    assertRefused(await comeBack(copy, back), 400, "sign-in-failed");
    assertRefused(await comeBack(copy, issuer.signIn(location)), 400, "sign-in-failed");
  });

  test("takes no code that was given for another sign-in", async () => {
    const [first, second] = [await begin(), await begin()];
    const back = issuer.signIn(first.location);
    back.searchParams.set("state", new URL(second.location).searchParams.get("state"));
    // Its verifier is not that of the code's challenge.
    assertRefused(await comeBack(second.browser, back), 400, "sign-in-failed");
  });

  test("does not mix issuers up", async () => {
    const { browser, location } = await begin();
    const back = issuer.signIn(location);
    back.searchParams.set("iss", other.url);
    const before = issuer.tokenRequests.length;
    assertRefused(await comeBack(browser, back), 400, "sign-in-failed");
    assert.equal(issuer.tokenRequests.length, before);

    for (const fault of [
      { claims: { iss: other.url } },
      { mint: (claims) => other.mint({ ...claims, iss: other.url }) },
      { mint: (claims) => other.mint(claims) },
    ]) {
      issuer.setTokenFault(fault);
      const begun = await begin();
      const answer = await comeBack(begun.browser, issuer.signIn(begun.location));
      assertRefused(answer, 401, "invalid-token");
    }
    issuer.setTokenFault();
  });

  test("takes no ID token that is not for it", async () => {
    const stranger = newSigningKey();
    for (const [fault, status, kind] of [
      [{ claims: { aud: "client-1" } }, 401, "invalid-token"],
      [{ claims: { aud: "quillgate" } }, 401, "invalid-token"],
      [{ claims: { aud: ["client-0", "x"], azp: "x" } }, 401, "invalid-token"],
      [{ claims: { aud: ["client-0", "x"] } }, 401, "invalid-token"],
      [{ claims: { nonce: "another" } }, 401, "invalid-token"],
      [{ claims: { nonce: undefined } }, 401, "invalid-token"],
      [{ claims: { exp: now() - 100 } }, 401, "invalid-token"],
      [{ claims: { sub: "mallory" } }, 403, "identity-not-mapped"],
      [{ mint: (claims) => forgeNone(claims) }, 401, "invalid-token"],
      [{ mint: (claims) => issuer.mint(claims, { key: stranger }) }, 401, "invalid-token"],
      [
        { mint: (claims) => issuer.mint(claims, { key: stranger, kid: issuer.key().kid }) },
        ...[401, "invalid-token"],
      ],
      [{ mint: () => gate.token() }, 401, "invalid-token"],
      [{ body: "{}" }, 503, "issuer-unavailable"],
      [{ body: "<html>" }, 503, "issuer-unavailable"],
      [{ status: 400 }, 400, "sign-in-failed"],
      [{ status: 500 }, 503, "issuer-unavailable"],
      [{ status: 302 }, 503, "issuer-unavailable"],
    ]) {
      issuer.setTokenFault(fault);
      const { browser, location } = await begin();
      const answer = await comeBack(browser, issuer.signIn(location));
      assertRefused(answer, status, kind);
      assert.equal(browser.cookie, undefined);
    }
    issuer.setTokenFault();
  });

  test("that was refused there is refused here", async () => {
    const { browser, location } = await begin();
    const state = new URL(location).searchParams.get("state");
    const back = `/session/callback?error=access_denied&state=${state}`;
    assertRefused(await browser.get(back, { headers: [] }), 400, "sign-in-failed");
  });

  test("an ID token is no access token, and an access token no ID token", async () => {
    const claims = { iss: issuer.url, sub: "carol", aud: "client-0", exp: now() + 60 };
    const token = gate.known(issuer.mint(claims));
    await assertNothingSent(gate, async () => {
      const bearer = await gate.get(VIEWS, { authorization: `Bearer ${token}` });
      assertProblem(bearer, 401, "invalid-token");
      const browser = new Browser(gate);
      const request = { method: "POST", target: "/session", json: { token } };
      assertProblem(await browser.send(request), 401, "invalid-token");
    });
  });

  test("nothing secret is said", () => gate.assertDiscreet());
});

describe("the paths of sessions", () => {
  let gate;

  before(async () => {
    gate = await startGate("sessions-paths");
  });
  after(() => gate?.stop());

  test("have their methods, and no other paths are beside them", async () => {
    for (const [target, allow] of [
      ["/session", "GET, HEAD, POST, DELETE, OPTIONS"],
      ["/session/methods", "GET, HEAD, OPTIONS"],
      ["/session/start", "GET, OPTIONS"],
      ["/session/callback", "GET, OPTIONS"],
    ]) {
      const answer = await gate.send({ method: "PUT", target, headers: [JSON_TYPE] });
      assertProblem(answer, 405, "method-not-allowed");
      assert.equal(answer.header("allow"), allow);
      const options = await gate.send({ method: "OPTIONS", target, authorization: null });
      assert.deepEqual([options.status, options.header("allow")], [204, allow]);
    }
    for (const target of ["/session/", "/session/x", "/session/methods/"]) {
      assertProblem(await gate.get(target), 404, "not-found");
    }
  });
});
