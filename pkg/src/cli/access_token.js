/**
 * Access tokens of a gateway: what `quillgate token mint` and `npm run token` print.
 *
 * This is JavaScript, since the repository's own commands and tests need it before anything is
 * compiled.
 */

import { createHmac, randomBytes } from "node:crypto";

/** For those who run the gateway: the one scope that needs no project. */
const OPERATE = "gateway:operate";

/** Every scope that a token can carry. */
export const SCOPES = Object.freeze([
  "jobs:create",
  "jobs:read",
  "analytics:read",
  "analytics:conversations",
  OPERATE,
]);

/** Every policy that a token can have a quota of. */
export const POLICIES = Object.freeze(["create-job", "send-message", "analytics", "read-jobs"]);

/** The longest that a token may live, in seconds. */
const MAX_TTL_SECONDS = 90 * 24 * 3600;

/** A project's id, as `quillgate init` takes one. */
const PROJECT_ID = /^(?!\.{1,2}$)[\w.-]+$/;
const ISSUER = "quillgate";
const MIN_SECRET_BYTES = 32;
/** @type {Record<string, number>} */
const UNITS = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

/** A request for a token that cannot be granted. */
export class TokenError extends Error {
  /** @override */
  name = "TokenError";
}

/**
 * @typedef {number | Record<string, number>} Quota
 *
 * @typedef {object} Claims
 * @property {string} iss
 * @property {string} sub
 * @property {string[]} projects
 * @property {string} scope
 * @property {number} iat
 * @property {number} exp
 * @property {string} [jti]
 * @property {Quota} [quota]
 *
 * @typedef {object} MintOptions what is said on the command line
 * @property {string} [sub]
 * @property {string[]} [project]
 * @property {string[]} [scope]
 * @property {string} ttl
 * @property {string} [jti]
 * @property {string[]} [quota]
 */

/**
 * Makes a token as a command line asks for it.
 *
 * @param {MintOptions} options
 * @param {() => string | Promise<string>} readSecret asked once the rest is known to be right
 * @returns {Promise<{ token: string, claims: Claims }>}
 * @throws {TokenError} when the gateway would refuse such a token
 */
export async function mintFromOptions(options, readSecret) {
  if (options.jti === "") throw new TokenError("--jti must not be empty");
  // An empty one is missing, as the claims say.
  if (options.project?.some((id) => id !== "" && !PROJECT_ID.test(id))) {
    throw new TokenError(
      "--project must have letters, digits, dots, dashes and underscores only: one id each time",
    );
  }
  const claims = accessClaims({
    sub: options.sub,
    projects: options.project,
    scope: options.scope?.join(" "),
    ttlSeconds: parseTtl(options.ttl),
    jti: options.jti ?? newTokenId(),
    quota: parseQuota(options.quota),
  });
  return { token: mintToken(claims, await readSecret()), claims };
}

/**
 * What somebody keeps of a token, to revoke it or to make the next one.
 *
 * @param {Claims} claims
 */
export function summarizeToken({ jti, sub, projects, scope, exp }) {
  const expiresAt = new Date(exp * 1000).toISOString();
  return { jti: jti ?? null, sub, projects, scope, expiresAt };
}

/**
 * The same for people, a line each.
 *
 * @param {Claims} claims
 * @returns {string[]}
 */
export function describeToken(claims) {
  const { jti, sub, projects, scope, expiresAt } = summarizeToken(claims);
  return [
    `id (jti)  ${jti ?? "none"}`,
    `subject   ${sub}`,
    `projects  ${projects.join(", ") || "none"}`,
    `scope     ${scope}`,
    `expires   ${expiresAt}`,
  ];
}

/**
 * Signs claims with HS256. Adds nothing and checks nothing about the claims,
 * so that tests can also make tokens that must be refused.
 *
 * @param {object} claims
 * @param {string} secret one or several, comma-separated; the first signs
 * @returns {string} a JSON Web Token
 */
export function mintToken(claims, secret) {
  const signing = signingSecret(secret);
  const body = [{ alg: "HS256", typ: "JWT" }, claims].map(encode).join(".");
  return `${body}.${createHmac("sha256", signing).update(body).digest("base64url")}`;
}

/**
 * The claims of a valid token that starts to live now.
 *
 * @param {{ sub?: string | undefined, projects?: string[] | undefined, scope?: string | undefined,
 *   ttlSeconds?: number, jti?: string, quota?: Quota | undefined, now?: number }} grant
 *   `projects` may be empty for the scope `gateway:operate` alone; `quota`: its share of every
 *   policy, or of those named; `now` in seconds since 1970
 * @returns {Claims}
 * @throws {TokenError} when the gateway would refuse such a token
 */
export function accessClaims(grant) {
  const { sub, projects = [], scope, ttlSeconds = 30 * 24 * 3600, jti, quota } = grant;
  const { now = Math.floor(Date.now() / 1000) } = grant;
  if (!sub) throw new TokenError("--sub is missing: who the token is for");
  const scopes = (scope ?? "").split(/\s+/).filter(Boolean);
  if (scopes.length === 0) throw new TokenError("--scope is missing: what the token allows");
  const unknown = scopes.filter((name) => !SCOPES.includes(name));
  if (unknown.length > 0) {
    throw new TokenError(`unknown scope ${unknown.join(" ")}; there are ${SCOPES.join(" ")}`);
  }
  const onlyOperates = scopes.every((name) => name === OPERATE);
  if ((projects.length === 0 && !onlyOperates) || projects.includes("")) {
    throw new TokenError("--project is missing: a project id, as often as needed");
  }
  if (!isQuota(quota)) throw new TokenError("--quota must be a whole number of at least 0");
  if (!(ttlSeconds > 0)) throw new TokenError("--ttl must be more than nothing");
  if (ttlSeconds > MAX_TTL_SECONDS) throw new TokenError("--ttl is at most 90d");
  return {
    iss: ISSUER,
    sub,
    projects,
    scope: scopes.join(" "),
    iat: now,
    exp: now + ttlSeconds,
    ...(jti === undefined ? {} : { jti }),
    ...(quota === undefined ? {} : { quota }),
  };
}

/** @param {Quota | undefined} quota */
function isQuota(quota) {
  if (quota === undefined) return true;
  const numbers = typeof quota === "number" ? [quota] : Object.values(quota);
  return numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

/**
 * Reads quotas: one number for all policies, or `<policy>=<number>` for each.
 *
 * @param {string[] | undefined} texts
 * @returns {Quota | undefined}
 */
function parseQuota(texts) {
  if (texts === undefined) return undefined;
  const pairs = texts.map((text) => {
    const [, policy, count] = /^(?:([a-z-]+)=)?(\d{1,9})$/.exec(text) ?? [];
    if (!count)
      throw new TokenError("--quota is a number such as 10, or one such as create-job=10");
    if (policy !== undefined && !POLICIES.includes(policy)) {
      throw new TokenError(`--quota is of no such policy; there are ${POLICIES.join(", ")}`);
    }
    return /** @type {const} */ ([policy, Number(count)]);
  });
  const [first] = pairs;
  if (pairs.length === 1 && first?.[0] === undefined) return first?.[1];
  if (pairs.some(([policy]) => policy === undefined)) {
    throw new TokenError("--quota is one number for all policies, or one for each that is named");
  }
  return Object.fromEntries(pairs);
}

/** A fresh secret that is fit to sign access tokens. */
export function newSecret() {
  return randomBytes(48).toString("base64url");
}

/**
 * A fresh id, by which a token can be revoked. 96 random bits never meet by chance, and are short:
 * a variable of 5 kB lists some 250 of them.
 */
function newTokenId() {
  return randomBytes(12).toString("base64url");
}

/**
 * Reads a duration such as `90m`, `12h` or `30d`.
 *
 * @param {string} text
 * @returns {number} seconds
 */
function parseTtl(text) {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (!unit) throw new TokenError(`--ttl ${text} is no duration such as 90m, 12h or 30d`);
  return Number(count) * /** @type {number} */ (UNITS[unit]);
}

/** @param {string} secret */
function signingSecret(secret) {
  const first = /** @type {string} */ (secret.split(",")[0]).trim();
  if (Buffer.byteLength(first) < MIN_SECRET_BYTES) {
    throw new TokenError(`the secret must have at least ${MIN_SECRET_BYTES} bytes`);
  }
  return first;
}

/** @param {object} value */
function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
