/** An OIDC issuer on a loopback port, with sign-in by authorization code. */
import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  sign as signBytes,
} from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "./listen.mjs";

const JWKS_PATH = "/.well-known/jwks";
const AUTHORIZE_PATH = "/authorize";
const TOKEN_PATH = "/token";
const GITHUB_TTL_SECONDS = 5 * 60;
const ACCESS_TTL_SECONDS = 24 * 3600;
const HUGE_BODY_BYTES = 32 * 1024 * 1024;

/** Key generation and signature options of Node.js by algorithm (RFC 7518, section 3). */
const ALGORITHMS = {
  RS256: { make: () => generateKeyPairSync("rsa", { modulusLength: 2048 }), options: {} },
  ES256: {
    make: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    options: { dsaEncoding: "ieee-p1363" },
  },
};

export function newSigningKey(alg = "RS256") {
  const kid = `${alg.toLowerCase()}-${randomBytes(6).toString("hex")}`;
  return { alg, kid, ...ALGORITHMS[alg].make() };
}

export function jwkOf({ publicKey, kid, alg }) {
  return { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" };
}

export function signToken(claims, key, header = {}) {
  const body = unsigned({ alg: key.alg, typ: "JWT", kid: key.kid, ...header }, claims);
  const { options } = ALGORITHMS[key.alg];
  const signature = signBytes("sha256", Buffer.from(body), { key: key.privateKey, ...options });
  return `${body}.${signature.toString("base64url")}`;
}

export class Issuer {
  /** Signing keys by algorithm. */
  #keys = newKeys();
  #fault = {};
  #codes = new Map();
  #tokenFault = {};
  tokenRequests = [];
  jwksRequests = 0;

  /** Starts an issuer whose URL is also its `iss`. */
  async start() {
    const { url, stop } = await listen((...args) => this.#respond(...args));
    const urls = { jwksUrl: url + JWKS_PATH, authorizeUrl: url + AUTHORIZE_PATH };
    return Object.assign(this, { url, stop, ...urls, tokenUrl: url + TOKEN_PATH });
  }

  key(alg = "RS256") {
    return this.#keys[alg];
  }

  jwks() {
    return { keys: Object.values(this.#keys).map(jwkOf) };
  }

  rotate() {
    const old = this.#keys;
    this.#keys = newKeys();
    return old;
  }

  /** Sets the fault of the key set, or clears it. */
  setFault(fault = {}) {
    this.#fault = fault;
  }

  /** Sets the fault of the token endpoint, or clears it. */
  setTokenFault(fault = {}) {
    this.#tokenFault = fault;
  }

  signIn(location, claims = {}) {
    const { origin, pathname, searchParams } = new URL(location);
    if (origin + pathname !== this.authorizeUrl)
      throw new Error(`not an authorization request: ${location}`);
    const request = Object.fromEntries(searchParams);
    const code = randomBytes(16).toString("base64url");
    this.#codes.set(code, { request, claims });
    const back = new URL(request.redirect_uri);
    back.search = new URLSearchParams({ code, state: request.state, iss: this.url });
    return back;
  }

  reset() {
    this.jwksRequests = 0;
    this.#fault = {};
  }

  /** Signs a token with exactly these claims. */
  mint(claims, { alg = "RS256", kid, header, key = this.key(alg) } = {}) {
    return signToken(claims, key, { ...(kid === undefined ? {} : { kid }), ...header });
  }

  githubClaims(changes = {}) {
    const { repository = "acme/docs", ref = "refs/heads/main", now = seconds() } = changes;
    const { workflow = "docs", now: _now, ...claims } = changes;
    const file = `${repository}/.github/workflows/${workflow}.yml@${ref}`;
    const sha = "3f1c9d2f0b7d4a6f8e5c1b2a3d4e5f60718293a4";
    return present({
      iss: this.url,
      sub: `repo:${repository}:ref:${ref}`,
      aud: "quillgate",
      actor: "alice",
      actor_id: "1001",
      base_ref: "",
      event_name: "push",
      head_ref: "",
      job_workflow_ref: file,
      job_workflow_sha: sha,
      ref,
      ref_protected: "true",
      ref_type: ref.startsWith("refs/tags/") ? "tag" : "branch",
      repository,
      repository_id: "2002",
      repository_owner: repository.split("/")[0],
      repository_owner_id: "3003",
      repository_visibility: "private",
      run_attempt: "1",
      run_id: "12345678901",
      run_number: "42",
      runner_environment: "github-hosted",
      sha,
      workflow,
      workflow_ref: file,
      workflow_sha: sha,
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + GITHUB_TTL_SECONDS,
      ...claims,
    });
  }

  accessClaims(changes = {}) {
    const { now = seconds(), ...claims } = changes;
    return present({
      aud: ["quillgate"],
      email: "alice@acme.example",
      exp: now + ACCESS_TTL_SECONDS,
      iat: now,
      nbf: now,
      iss: this.url,
      type: "app",
      identity_nonce: randomBytes(12).toString("base64url"),
      sub: "7335d417-61da-459d-899c-0a01c76a2f94",
      country: "NL",
      ...claims,
    });
  }

  #respond(request, response) {
    const path = request.url.split("?")[0];
    if (path === AUTHORIZE_PATH) return this.#showSignIn(request, response);
    if (path === TOKEN_PATH) return void this.#exchange(request, response);
    if (path !== JWKS_PATH) return response.writeHead(404).end();
    this.jwksRequests += 1;
    const { cached } = this.#fault;
    if (!cached || request.headers["cache-control"] === "no-cache") {
      return respondWithJwks(response, this.#fault, this.jwks());
    }
    response.setHeader("age", "60");
    return respondWithJwks(response, cached, this.jwks());
  }

  #showSignIn(request, response) {
    const back = this.signIn(this.url + request.url);
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<a href="${back.href.replaceAll("&", "&amp;")}">Continue as carol</a>`);
  }

  /** Exchanges a code for tokens (RFC 6749, section 4.1.3; RFC 7636, section 4.6). */
  async #exchange(request, response) {
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = Object.fromEntries(new URLSearchParams(body));
    this.tokenRequests.push(form);
    const fault = this.#tokenFault;
    if (fault.status || fault.body !== undefined) {
      return response.writeHead(fault.status ?? 200).end(fault.body);
    }
    const signIn = this.#codes.get(form.code);
    this.#codes.delete(form.code);
    const challenge = createHash("sha256")
      .update(form.code_verifier ?? "")
      .digest("base64url");
    const authorization = signIn?.request;
    const isValid =
      form.grant_type === "authorization_code" &&
      authorization?.client_id === form.client_id &&
      authorization.redirect_uri === form.redirect_uri &&
      authorization.code_challenge_method === "S256" &&
      authorization.code_challenge === challenge;
    if (!isValid) return response.writeHead(400).end('{"error":"invalid_grant"}');
    const claims = present({
      ...{ iss: this.url, sub: "carol", aud: form.client_id, nonce: authorization.nonce },
      ...{ iat: seconds(), exp: seconds() + 3600 },
      ...signIn.claims,
      ...fault.claims,
    });
    const token = fault.mint?.(claims) ?? this.mint(claims);
    sendJson(response, { access_token: "opaque", token_type: "Bearer", id_token: token });
  }
}

export const startIssuer = () => new Issuer().start();

async function respondWithJwks(response, fault, jwks) {
  if (fault.hang) return;
  if (fault.delayMs) await sleep(fault.delayMs);
  if (fault.reset) return void response.destroy();
  if (fault.redirect) return void response.writeHead(302, { location: fault.redirect }).end();
  response.writeHead(fault.status ?? 200, { "content-type": "application/json" });
  response.on("error", () => {});
  response.end(jwksBody(fault, jwks));
}

function jwksBody(fault, jwks) {
  if (fault.body !== undefined) return fault.body;
  if (fault.garbage) return "<html>not a key set</html>";
  const text = JSON.stringify(jwks);
  return fault.huge ? `${text.slice(0, -1)},"padding":"${"x".repeat(HUGE_BODY_BYTES)}"}` : text;
}

function sendJson(response, value) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function newKeys() {
  return { RS256: newSigningKey("RS256"), ES256: newSigningKey("ES256") };
}

function seconds() {
  return Math.floor(Date.now() / 1000);
}

function present(claims) {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unsigned(header, claims) {
  return [header, claims].map(encode).join(".");
}

export function forgeNone(claims, { alg = "none", kid, signature = "" } = {}) {
  return `${unsigned({ alg, typ: "JWT", kid }, claims)}.${signature}`;
}

/** Forges a token signed by HMAC, with the public key as the secret (RFC 8725, section 2.1). */
export function forgeHs256(claims, key, { form = "spki" } = {}) {
  const secret =
    form === "jwk"
      ? JSON.stringify(jwkOf(key))
      : createPublicKey(key.publicKey.export({ type: "spki", format: "pem" })).export({
          type: form,
          format: "pem",
        });
  const body = unsigned({ alg: "HS256", typ: "JWT", kid: key.kid }, claims);
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

export function withWrongSignature(token) {
  const [header, claims, signature] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  bytes[0] ^= 1;
  return [header, claims, bytes.toString("base64url")].join(".");
}

export function withClaims(token, claims) {
  const [header, , signature] = token.split(".");
  return [header, encode(claims), signature].join(".");
}

export function forgeEmbeddedJwk(claims, { kid, key = newSigningKey(), header } = {}) {
  const own = { ...key, kid: kid ?? key.kid };
  return signToken(claims, own, { jwk: jwkOf(own), ...header });
}
