/**
 * `npm run token -- --sub alice --project demo-docs --scope "jobs:create jobs:read"`:
 * prints an access token for the gateway. The secret comes from the variable
 * ACCESS_TOKEN_SECRET or from standard input, never from an argument, which
 * other users of the machine could read.
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

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

/** The longest that a token may live, in seconds. */
const MAX_TTL_SECONDS = 90 * 24 * 3600;

const ISSUER = "quillgate";
const MIN_SECRET_BYTES = 32;
const UNITS = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

const USAGE = `usage: npm run token -- --sub <name> --project <id> [--project <id>…] --scope "<scope>…"
                        [--ttl 30d] [--jti <id>] [--quota <n> | --quota <policy>=<n>…]
       npm run token -- --new-secret
scopes: ${SCOPES.join(" ")}
The secret is read from ACCESS_TOKEN_SECRET, or from standard input.`;

/** A request for a token that cannot be granted. */
class TokenError extends Error {
  name = "TokenError";
}

/**
 * Signs claims with HS256. Adds nothing and checks nothing about the claims,
 * so that tests can also make tokens that must be refused.
 *
 * @param {Record<string, unknown>} claims
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
 * @param {{ sub: string, projects?: string[], scope: string, ttlSeconds?: number, jti?: string,
 *   quota?: number | Record<string, number>, now?: number }} grant
 *   `projects` may be empty for the scope `gateway:operate` alone; `quota`: its share of every
 *   policy, or of those named; `now` in seconds since 1970
 * @throws {TokenError} when the gateway would refuse such a token
 */
export function accessClaims(grant) {
  const { sub, projects = [], scope, ttlSeconds = 30 * UNITS.d, jti, quota } = grant;
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

function isQuota(quota) {
  if (quota === undefined) return true;
  const numbers = typeof quota === "number" ? [quota] : Object.values(quota);
  return numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

/**
 * Reads quotas: one number for all policies, or `<policy>=<number>` for each.
 *
 * @param {string[] | undefined} texts
 * @returns {number | Record<string, number> | undefined}
 */
function parseQuota(texts) {
  if (texts === undefined) return undefined;
  const pairs = texts.map((text) => {
    const [, policy, count] = /^(?:([a-z-]+)=)?(\d{1,9})$/.exec(text) ?? [];
    if (!count)
      throw new TokenError("--quota is a number such as 10, or one such as create-job=10");
    return [policy, Number(count)];
  });
  if (pairs.length === 1 && pairs[0][0] === undefined) return pairs[0][1];
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
  return Number(count) * UNITS[unit];
}

function signingSecret(secret) {
  const first = secret.split(",")[0].trim();
  if (Buffer.byteLength(first) < MIN_SECRET_BYTES) {
    throw new TokenError(`the secret must have at least ${MIN_SECRET_BYTES} bytes`);
  }
  return first;
}

function encode(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function readOptions(args) {
  try {
    return parseArgs({
      args,
      options: {
        sub: { type: "string" },
        project: { type: "string", multiple: true },
        scope: { type: "string", multiple: true },
        ttl: { type: "string", default: "30d" },
        jti: { type: "string" },
        quota: { type: "string", multiple: true },
        "new-secret": { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    // Only the flag, in the parser's words; a value could be a misplaced secret.
    const flag = /'(-[^'\s=]*)/.exec(error.message)?.[1];
    if (error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION")
      throw new TokenError(`unknown flag ${flag}`);
    if (error.code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL") {
      throw new TokenError("an argument belongs to no flag");
    }
    throw new TokenError(`${flag ?? "a flag"} is used wrongly`);
  }
}

function readSecret() {
  const given = process.env.ACCESS_TOKEN_SECRET;
  if (given !== undefined) return given;
  if (process.stdin.isTTY) {
    throw new TokenError("no secret: set ACCESS_TOKEN_SECRET or pipe it to standard input");
  }
  const piped = readFileSync(0, "utf8").trim();
  if (!piped) throw new TokenError("no secret: ACCESS_TOKEN_SECRET is not set, nothing was piped");
  return piped;
}

function main(args) {
  const options = readOptions(args);
  if (options.help) return USAGE;
  if (options["new-secret"]) return newSecret();
  if (options.jti === "") throw new TokenError("--jti must not be empty");
  const claims = accessClaims({
    sub: options.sub,
    projects: options.project,
    scope: options.scope?.join(" "),
    ttlSeconds: parseTtl(options.ttl),
    jti: options.jti ?? newTokenId(),
    quota: parseQuota(options.quota),
  });
  return mintToken(claims, readSecret());
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    console.log(main(process.argv.slice(2)));
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    console.error(`token: ${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}
