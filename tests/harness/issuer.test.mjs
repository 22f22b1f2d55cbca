import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import {
  forgeEmbeddedJwk,
  forgeHs256,
  forgeNone,
  newSigningKey,
  startIssuer,
  withClaims,
  withWrongSignature,
} from "./issuer.mjs";

const issuer = await startIssuer();
after(() => issuer.stop());
beforeEach(() => issuer.reset());

const WEB_CRYPTO = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
};

async function servedKeys() {
  const response = await fetch(issuer.jwksUrl);
  assert.match(response.headers.get("content-type"), /^application\/json/);
  return (await response.json()).keys;
}

function parts(token) {
  const [header, claims] = token.split(".");
  const [decodedHeader, decodedClaims] = [header, claims].map((part) =>
    JSON.parse(Buffer.from(part, "base64url")),
  );
  return { header: decodedHeader, claims: decodedClaims };
}

/** Whether WebCrypto, as the gateway has it, accepts the signature with the key of that `kid`. */
async function isSigned(token, keys) {
  const { alg, kid } = parts(token).header;
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk) return false;
  const key = await crypto.subtle.importKey("jwk", jwk, WEB_CRYPTO[alg], false, ["verify"]);
  const at = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(at + 1), "base64url");
  return crypto.subtle.verify(WEB_CRYPTO[alg], key, signature, Buffer.from(token.slice(0, at)));
}

for (const alg of ["RS256", "ES256"]) {
  test(`${alg}: a minted token is verified by the served key`, async () => {
    const token = issuer.mint({ iss: issuer.url, x: 1 }, { alg });
    assert.deepEqual(parts(token), {
      header: { alg, typ: "JWT", kid: issuer.key(alg).kid },
      claims: { iss: issuer.url, x: 1 },
    });
    assert.ok(await isSigned(token, await servedKeys()));
  });

  test(`${alg}: a changed signature, changed claims and another key are not`, async () => {
    const keys = await servedKeys();
    const token = issuer.mint({ x: 1 }, { alg });
    assert.ok(!(await isSigned(withWrongSignature(token), keys)));
    assert.ok(!(await isSigned(withClaims(token, { x: 2 }), keys)));
    const { kid } = issuer.key(alg);
    const foreign = issuer.mint({ x: 1 }, { alg, kid, key: newSigningKey(alg) });
    assert.equal(parts(foreign).header.kid, kid);
    assert.ok(!(await isSigned(foreign, keys)));
  });
}

test("a served key is public, for signatures, and says its algorithm", async () => {
  const keys = await servedKeys();
  assert.deepEqual(
    keys.map(({ kty, alg, use }) => [kty, alg, use]),
    [
      ["RSA", "RS256", "sig"],
      ["EC", "ES256", "sig"],
    ],
  );
  for (const key of keys) assert.ok(!("d" in key));
  assert.equal(Buffer.from(keys[0].n, "base64url").length, 256);
});

test("the configuration names the issuer and its key set", async () => {
  const response = await fetch(`${issuer.url}/.well-known/openid-configuration`);
  const { issuer: name, jwks_uri } = await response.json();
  assert.deepEqual([name, jwks_uri], [issuer.url, issuer.jwksUrl]);
  assert.equal(issuer.jwksRequests, 0);
  assert.equal((await fetch(`${issuer.url}/else`)).status, 404);
});

test("requests for the key set are counted", async () => {
  await servedKeys();
  await fetch(`${issuer.jwksUrl}?x=1`);
  assert.equal(issuer.jwksRequests, 2);
  assert.equal(issuer.jwksTimes.length, 2);
});

test("rotating replaces the keys, and keeps the old ones only when told", async () => {
  const before = issuer.mint({});
  const old = issuer.rotate({ keepOld: true });
  assert.notEqual(issuer.key().kid, old.RS256.kid);
  assert.equal((await servedKeys()).length, 4);
  assert.ok(await isSigned(before, await servedKeys()));
  assert.ok(await isSigned(issuer.mint({}), await servedKeys()));
  issuer.rotate();
  assert.equal((await servedKeys()).length, 2);
  assert.ok(!(await isSigned(before, await servedKeys())));
  assert.ok(!(await isSigned(issuer.mint({}, { key: old.ES256 }), await servedKeys())));
});

test("a header's members can be replaced and left out", () => {
  const token = issuer.mint({}, { header: { kid: undefined, typ: "at+jwt", crit: ["x"] } });
  assert.deepEqual(parts(token).header, { alg: "RS256", typ: "at+jwt", crit: ["x"] });
});

test("GitHub's claims follow from repository and ref", () => {
  const claims = issuer.githubClaims({ repository: "acme/site", ref: "refs/tags/v1", now: 1000 });
  assert.equal(claims.sub, "repo:acme/site:ref:refs/tags/v1");
  assert.equal(claims.repository_owner, "acme");
  assert.equal(claims.ref_type, "tag");
  assert.equal(claims.job_workflow_ref, "acme/site/.github/workflows/docs.yml@refs/tags/v1");
  assert.deepEqual([claims.iat, claims.nbf, claims.exp], [1000, 1000, 1300]);
  assert.ok(!("now" in claims));
});

test("any of GitHub's claims can be replaced or left out", () => {
  const claims = issuer.githubClaims({ aud: ["a", "b"], sub: "x", jti: undefined });
  assert.deepEqual(claims.aud, ["a", "b"]);
  assert.equal(claims.sub, "x");
  assert.ok(!("jti" in claims));
  assert.equal(issuer.githubClaims().sub, "repo:acme/docs:ref:refs/heads/main");
});

test("Access' claims have an audience list and an email", () => {
  const claims = issuer.accessClaims({ email: "bob@acme.example", now: 1000 });
  const { aud, email, type, iss, iat } = claims;
  assert.deepEqual(
    { aud, email, type, iss, iat },
    { aud: ["quillgate"], email: "bob@acme.example", type: "app", iss: issuer.url, iat: 1000 },
  );
  assert.ok(claims.identity_nonce && claims.sub && claims.country);
});

test("forged tokens are what they say", async () => {
  const key = issuer.key();
  const none = forgeNone({ x: 1 }, { alg: "nOnE" });
  assert.deepEqual(parts(none).header, { alg: "nOnE", typ: "JWT" });
  assert.ok(none.endsWith("."));

  const [body, signature] = splitSignature(forgeHs256({ x: 1 }, key));
  const pem = key.publicKey.export({ type: "spki", format: "pem" });
  assert.equal(signature, createHmac("sha256", pem).update(body).digest("base64url"));
  for (const form of ["pkcs1", "jwk"]) {
    assert.equal(parts(forgeHs256({ x: 1 }, key, { form })).header.alg, "HS256");
  }

  const embedded = forgeEmbeddedJwk({ x: 1 }, { kid: key.kid });
  assert.equal(parts(embedded).header.kid, key.kid);
  assert.ok(await isSigned(embedded, [parts(embedded).header.jwk]));
  assert.ok(!(await isSigned(embedded, await servedKeys())));
});

function splitSignature(token) {
  const at = token.lastIndexOf(".");
  return [token.slice(0, at), token.slice(at + 1)];
}

test("the key set can go wrong in each way, until it is mended", async () => {
  const ask = () => fetch(issuer.jwksUrl, { redirect: "manual" });
  issuer.setFault({ status: 503 });
  assert.equal((await ask()).status, 503);
  issuer.setFault({ garbage: true });
  await assert.rejects((await ask()).json(), SyntaxError);
  issuer.setFault({ body: '{"keys":7}' });
  assert.deepEqual(await (await ask()).json(), { keys: 7 });
  issuer.setFault({ redirect: "http://127.0.0.1:1/" });
  const redirect = await ask();
  assert.deepEqual(
    [redirect.status, redirect.headers.get("location")],
    [302, "http://127.0.0.1:1/"],
  );
  issuer.setFault({ huge: true });
  assert.ok((await (await ask()).text()).length > 32 * 1024 * 1024);
  issuer.setFault({ reset: true });
  await assert.rejects(ask());
  issuer.setFault({ delayMs: 60 });
  const begun = performance.now();
  assert.equal((await ask()).status, 200);
  assert.ok(performance.now() - begun >= 59);
  issuer.setFault({ hang: true });
  await assert.rejects(fetch(issuer.jwksUrl, { signal: AbortSignal.timeout(60) }), /timeout/i);
  issuer.setFault();
  assert.equal((await ask()).status, 200);
  assert.equal(issuer.jwksRequests, 9);
});

test("a code is exchanged once, by who has the verifier of its challenge", async () => {
  const verifier = "a-verifier-of-at-least-forty-three-characters";
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const request = {
    client_id: "page",
    redirect_uri: "https://gate.example/back",
    state: "a-state",
    nonce: "a-nonce",
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  const signIn = () => issuer.signIn(`${issuer.authorizeUrl}?${new URLSearchParams(request)}`);
  const exchange = (code, changes) => {
    const form = {
      grant_type: "authorization_code",
      code,
      client_id: request.client_id,
      redirect_uri: request.redirect_uri,
      code_verifier: verifier,
      ...changes,
    };
    return fetch(issuer.tokenUrl, { method: "POST", body: new URLSearchParams(form) });
  };
  const back = signIn();
  assert.equal(back.origin + back.pathname, request.redirect_uri);
  assert.equal(back.searchParams.get("state"), request.state);
  const code = back.searchParams.get("code");
  const { id_token } = await (await exchange(code)).json();
  assert.ok(await isSigned(id_token, await servedKeys()));
  const { iss, aud, nonce } = parts(id_token).claims;
  assert.deepEqual({ iss, aud, nonce }, { iss: issuer.url, aud: "page", nonce: "a-nonce" });
  assert.equal((await exchange(code)).status, 400);
  for (const changes of [
    { code_verifier: `${verifier}x` },
    { client_id: "other" },
    { redirect_uri: "https://gate.example/other" },
    { grant_type: "refresh_token" },
  ]) {
    assert.equal((await exchange(signIn().searchParams.get("code"), changes)).status, 400);
  }
});
