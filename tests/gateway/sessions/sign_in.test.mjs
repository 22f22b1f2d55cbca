/** Sign-in. A user signs in with Cloudflare Access or at an OpenID Connect issuer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forgeNone, Issuer, newSigningKey } from "../../harness/issuer.mjs";
import {
  assertSignedOut,
  Browser,
  LIST,
  nowInSeconds,
  openSession,
  SESSION_COOKIE,
  SIGN_IN_COOKIE,
} from "../browser.mjs";
import {
  assertProblem,
  EVERY_SCOPE,
  PROJECT,
  trust,
  trustedIssuer,
  useGate,
  useServer,
  VIEWS,
} from "../recorded_gateway.mjs";

describe("sign-in with Cloudflare Access", () => {
  const issuer = useServer(new Issuer());
  const gate = useGate("sessions-access", () => {
    const rules = [{ claims: { type: "app" }, projects: [PROJECT], scope: EVERY_SCOPE }];
    const entry = { ...trustedIssuer(issuer, rules), header: "cf-access-jwt-assertion" };
    return { gateway: { vars: { TRUSTED_ISSUERS: JSON.stringify([entry]) } } };
  });

  test("opens a session with a Cloudflare Access token and an empty body", async () => {
    const browser = new Browser(gate);
    assert.equal((await browser.get("/session/methods")).json.access, true);
    const assertion = gate.known(issuer.mint(issuer.accessClaims()));
    const headers = [...browser.sameOrigin, ["Cf-Access-Jwt-Assertion", assertion]];
    const request = { method: "POST", target: "/session", json: {} };
    const answer = await browser.send({ ...request, headers });
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await browser.get(VIEWS)).status, 200);
    await browser.signOut();
    assertProblem(await browser.get(VIEWS), 401, "missing-token");
  });
});

describe("sign-in at an issuer", () => {
  const issuer = useServer(new Issuer());
  const other = useServer(new Issuer());
  const gate = useGate("sessions-sign-in", () => {
    const both = [issuer, other];
    const rules = [{ claims: { sub: "carol" }, projects: [PROJECT], scope: "analytics:read" }];
    const signIn = both.map(({ url, authorizeUrl, tokenUrl }, at) => ({
      ...{ name: ["Acme SSO", "Other"][at], issuer: url, clientId: `client-${at}` },
      ...{ authorizationEndpoint: authorizeUrl, tokenEndpoint: tokenUrl, scope: "openid email" },
    }));
    const vars = {
      ...trust(both, rules),
      SIGN_IN_ISSUERS: JSON.stringify(signIn),
      SIGN_IN_CLIENT_SECRET: JSON.stringify({ Other: "a-secret-of-the-other" }),
    };
    return { gateway: { vars } };
  });

  const START = "/session/start?issuer=Acme%20SSO";
  const pathOf = ({ pathname, search }) => pathname + search;
  async function startSignIn(target = START, browser = new Browser(gate)) {
    const answer = await browser.get(target, { headers: [["Sec-Fetch-Site", "same-origin"]] });
    assert.equal(answer.status, 302, answer.text);
    const [, cookie] = answer.headers.find(([name]) => name === "set-cookie");
    return { browser, location: answer.header("location"), cookie };
  }

  /** Returns another browser with a copy of a sign-in cookie, in which `change` changes the value. */
  function copySignIn(browser, change = (value) => value) {
    const copy = new Browser(gate);
    for (const [name, value] of browser.cookies) {
      if (name.startsWith(SIGN_IN_COOKIE)) copy.cookies.set(name, change(value));
    }
    assert.equal(copy.cookies.size, 1);
    return copy;
  }

  function followCallback(browser, callback, headers = []) {
    browser.cookies.delete(SESSION_COOKIE);
    const all = [["Sec-Fetch-Site", "cross-site"], ...headers];
    return browser.get(pathOf(callback), { headers: all });
  }

  function assertRejected(answer, status, kind) {
    assertProblem(answer, status, kind);
    assert.equal(answer.header("set-cookie"), undefined);
    assert.equal(answer.header("location"), undefined);
  }

  test("redirects to the issuer and opens a session after the callback", async () => {
    const { browser, location, cookie } = await startSignIn(`${START}&return=%2F%3Froute%3Dviews`);
    const parameters = new URL(location).searchParams;
    assert.equal(parameters.get("redirect_uri"), `http://${gate.host}/session/callback`);
    assert.equal(parameters.get("code_challenge_method"), "S256");
    assert.match(cookie, /; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const callback = issuer.signIn(location);
    const answer = await followCallback(browser, callback);
    assert.equal(answer.status, 303, answer.text);
    assert.equal(answer.header("location"), "/?route=views");
    assert.match(answer.header("set-cookie"), /; SameSite=Strict; Max-Age=36\d\d, /);
    assert.deepEqual([...browser.cookies.keys()], [SESSION_COOKIE], "the sign-in cookie remains");
    const session = await browser.get("/session");
    assert.deepEqual([session.json.subject, session.json.scopes], ["carol", ["analytics:read"]]);
    assert.equal((await browser.get(VIEWS)).status, 200);
    assertProblem(await browser.get(LIST), 403, "insufficient-scope");
    assert.equal(issuer.tokenRequests.at(-1).client_secret, undefined);

    const log = gate.gateway.log();
    const secrets = [browser.cookie, callback.searchParams.get("code"), parameters.get("state")];
    for (const secret of secrets) assert.ok(!log.includes(secret), "the log contains a secret");
  });

  test("ends the earlier session at sign-in and creates a new cookie", async () => {
    const browser = await openSession(gate);
    const earlier = new Browser(gate, browser.cookie);
    const { location } = await startSignIn(START, browser);
    assert.equal((await followCallback(browser, issuer.signIn(location))).status, 303);
    assert.notEqual(browser.cookie, earlier.cookie);
    await assertSignedOut(earlier);
  });

  test("completes a sign-in once, and only in the browser that started it", async () => {
    const tokenRequests = () => issuer.tokenRequests.length;
    const { browser, location } = await startSignIn();
    const callback = issuer.signIn(location);
    const before = tokenRequests();
    // A browser without a sign-in in progress opens an attacker's callback link.
    assertRejected(await followCallback(new Browser(gate), callback), 400, "sign-in-failed");
    // A browser with its own sign-in in progress opens the same link.
    const victim = (await startSignIn()).browser;
    assertRejected(await followCallback(victim, callback), 400, "sign-in-failed");
    // The sign-in cookie has a changed expiry or return path.
    for (const [at, part] of [
      [1, String(Date.now() + 1e9)],
      [3, Buffer.from("//evil.example").toString("base64url")],
    ]) {
      const changed = copySignIn(browser, (value) => value.split(".").with(at, part).join("."));
      assertRejected(await followCallback(changed, callback), 400, "sign-in-failed");
    }
    assert.equal(tokenRequests(), before, "the gateway sent the code to the issuer");

    const copy = copySignIn(browser);
    assert.equal((await followCallback(browser, callback)).status, 303);
    // Replays the callback with the same state and code, then with the same state and a new code.
    assertRejected(await followCallback(copy, callback), 400, "sign-in-failed");
    assertRejected(await followCallback(copy, issuer.signIn(location)), 400, "sign-in-failed");
  });

  test("sends the issuer one token request per sign-in, even if that request fails", async () => {
    for (const fault of [{ status: 400 }, { status: 500 }, { claims: { nonce: "another" } }]) {
      issuer.setTokenFault(fault);
      const { browser, location } = await startSignIn();
      const before = issuer.tokenRequests.length;
      const replay = () => followCallback(copySignIn(browser), issuer.signIn(location));
      await Promise.all(Array.from({ length: 10 }, replay));
      assertRejected(await replay(), 400, "sign-in-failed");
      assert.equal(issuer.tokenRequests.length - before, 1);
    }
    issuer.setTokenFault();
  });

  test("rejects an ID token that is forged, expired or not meant for this sign-in", async () => {
    const stranger = newSigningKey();
    for (const [fault, status, kind] of [
      [{ claims: { aud: "client-1" } }, 401, "invalid-token"],
      [{ claims: { aud: "quillgate" } }, 401, "invalid-token"],
      [{ claims: { aud: ["client-0", "x"], azp: "x" } }, 401, "invalid-token"],
      [{ claims: { aud: ["client-0", "x"] } }, 401, "invalid-token"],
      [{ claims: { nonce: "another" } }, 401, "invalid-token"],
      [{ claims: { nonce: undefined } }, 401, "invalid-token"],
      [{ claims: { exp: nowInSeconds() - 100 } }, 401, "invalid-token"],
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
      [{ status: 401 }, 503, "issuer-unavailable"],
      [{ status: 429 }, 503, "issuer-unavailable"],
      [{ status: 500 }, 503, "issuer-unavailable"],
      [{ status: 302 }, 503, "issuer-unavailable"],
    ]) {
      issuer.setTokenFault(fault);
      const { browser, location } = await startSignIn();
      const answer = await followCallback(browser, issuer.signIn(location));
      assertRejected(answer, status, kind);
      assert.equal(browser.cookie, undefined);
    }
    issuer.setTokenFault();
  });
});
