/**
 * Mints a gateway's access tokens, for `quillgate token mint`, `npm start` and the tests.
 *
 * The module is JavaScript, because the repository's scripts and tests import it before any
 * TypeScript is compiled.
 */

import { createHmac, randomBytes } from "node:crypto";

/** The operators' scope. It is the only one that a token can have without a project. */
const OPERATE = "gateway:operate";

export const SCOPES = Object.freeze([
  "jobs:create",
  "jobs:read",
  "analytics:read",
  "analytics:conversations",
  "deployments:create",
  "deployments:read",
  "automations:run",
  OPERATE,
]);

/** The rate limit policies that a quota can name. */
export const POLICIES = Object.freeze([
  "create-job",
  "send-message",
  "analytics",
  "read-jobs",
  "create-deployment",
  "create-preview",
  "read-deployments",
]);

const MAX_TTL_SECONDS = 90 * 24 * 3600;

/** The format of a project id, as in `quillgate init`. */
const PROJECT_ID = /^(?!\.{1,2}$)[\w.-]+$/;
const ISSUER = "quillgate";
const MIN_SECRET_BYTES = 32;
/** @type {Record<string, number>} */
const UNITS = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

/** Thrown for a malformed option, a token that the gateway would reject or a short secret. */
export class TokenError extends Error {
  /** @override */
  name = "TokenError";
}

/**
 * @typedef {number | Record<string, number>} Quota maximum requests per window, for all policies or
 *   by policy
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
 * @typedef {object} MintOptions the flags of the command line
 * @property {string} [sub]
 * @property {string[]} [project]
 * @property {string[]} [scope]
 * @property {string} ttl
 * @property {string} [jti]
 * @property {string[]} [quota]
 */

/**
 * Mints a token from command-line flags.
 *
 * @param {MintOptions} options
 * @param {() => string | Promise<string>} readSecret called after the options have been validated
 * @returns {Promise<{ token: string, claims: Claims }>}
 * @throws {TokenError} if an option is malformed, the gateway would reject the token, or the secret
 *   has fewer than 32 bytes
 */
export async function mintFromOptions(options, readSecret) {
  if (options.jti === "") throw new TokenError("--jti must not be empty");
  // For an empty id, `accessClaims` throws a better error.
  if (options.project?.some((id) => id !== "" && !PROJECT_ID.test(id))) {
    throw new TokenError(
      "--project can contain only letters, digits, dots, dashes and underscores; repeat it for several ids",
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
 * Returns what operators must record to revoke or renew a token later.
 *
 * @param {Claims} claims
 */
export function summarizeToken({ jti, sub, projects, scope, exp }) {
  const expiresAt = new Date(exp * 1000).toISOString();
  return { jti: jti ?? null, sub, projects, scope, expiresAt };
}

/**
 * Formats the summary of a token as text, one property per line.
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
 * Signs claims with HS256.
 *
 * Does not validate the claims, so that tests can mint invalid tokens.
 *
 * @param {object} claims
 * @param {string} secret one or more secrets, separated by commas; the first one signs
 * @returns {string} a JSON Web Token
 * @throws {TokenError} if the first secret has fewer than 32 bytes
 */
export function mintToken(claims, secret) {
  const signing = signingSecret(secret);
  const body = [{ alg: "HS256", typ: "JWT" }, claims].map(encode).join(".");
  return `${body}.${createHmac("sha256", signing).update(body).digest("base64url")}`;
}

/**
 * Returns the claims of a new token.
 *
 * @param {{ sub?: string | undefined, projects?: string[] | undefined, scope?: string | undefined,
 *   ttlSeconds?: number, jti?: string, quota?: Quota | undefined, now?: number }} grant
 *   `projects` may be empty only if `gateway:operate` is the only scope. `ttlSeconds` is at most 90
 *   days; the default is 30 days. `quota` limits the requests per window, for every policy or for
 *   those named. `now` is in seconds since 1970.
 * @returns {Claims}
 * @throws {TokenError} if the gateway would reject the token
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
 * Parses quotas: one number for all policies, or one `<policy>=<number>` per policy.
 *
 * @param {string[] | undefined} texts
 * @returns {Quota | undefined}
 * @throws {TokenError} if a quota is malformed or names an unknown policy
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
  const names = pairs.map(([policy]) => policy);
  const repeated = names.find((policy, at) => names.indexOf(policy) !== at);
  if (repeated !== undefined) {
    throw new TokenError(`--quota has ${repeated} twice: give each policy one number`);
  }
  return Object.fromEntries(pairs);
}

/** Returns a new random secret of 48 bytes for signing access tokens, as base64url. */
export function newSecret() {
  return randomBytes(48).toString("base64url");
}

/**
 * Returns a random token id, which operators use to revoke the token.
 *
 * 96 bits are enough to avoid collisions. An id has only 16 characters, so that REVOKED_TOKENS,
 * which has at most 5 kB, can list about 250 ids.
 */
function newTokenId() {
  return randomBytes(12).toString("base64url");
}

/**
 * Parses a lifetime such as `90m`, `12h` or `30d`.
 *
 * @param {string} text
 * @returns {number} seconds
 * @throws {TokenError} if the lifetime is malformed
 */
function parseTtl(text) {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (!unit) throw new TokenError(`--ttl ${text} is not a duration such as 90m, 12h or 30d`);
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
