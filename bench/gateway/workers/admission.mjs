/**
 * Checks of the hand-written Worker. They have the gateway's order: origin, route, method, token,
 * project, scope, query, body.
 */
import { env } from "cloudflare:workers";
import {
  buildProblem,
  decodeSegment,
  findAccessProblem,
  findClaimsProblem,
  isInteger,
  isJsonType,
  isRange,
  MAX_BODY,
  parseDate,
} from "./rules.mjs";

const ORIGINS = new Set(env.ALLOWED_ORIGINS.split(","));
const EXPOSED = "Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
const BASE64URL = { alphabet: "base64url" };
const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

const NO_QUERY = {};
const VIEWS_QUERY = {
  dateFrom: (text) => parseDate(text) !== undefined,
  dateTo: (text) => parseDate(text) !== undefined,
  limit: (text) => isInteger(text, 1, 250),
  offset: (text) => isInteger(text, 0, Number.MAX_SAFE_INTEGER),
};

const VIEWS = {
  operation: "listViews",
  method: "GET",
  scope: "analytics:read",
  query: VIEWS_QUERY,
  buildTarget: (project) => `/v1/analytics/${encodeURIComponent(project)}/views`,
};
const READ = {
  operation: "readJob",
  method: "GET",
  scope: "jobs:read",
  query: NO_QUERY,
  buildTarget: (project, job) =>
    `/v2/agent/${encodeURIComponent(project)}/job/${encodeURIComponent(job)}`,
};
const CREATE = {
  operation: "createJob",
  method: "POST",
  scope: "jobs:create",
  query: NO_QUERY,
  buildTarget: (project) => `/v2/agent/${encodeURIComponent(project)}/job`,
};

/** The verification key, imported once per isolate. */
let key;

/**
 * Checks a request. Returns `{ call }`, or `{ rejection }` with the response. The response to a
 * preflight request is also a `rejection`.
 *
 * @typedef {object} Call
 * @property {"listViews" | "readJob" | "createJob"} operation
 * @property {string} id the request's id
 * @property {Record<string, string>} headers of the response
 * @property {string} caller
 * @property {string} project
 * @property {string} target path and query upstream
 * @property {string} [body]
 */
export async function admit(request) {
  const id = crypto.randomUUID();
  const headers = {
    "cache-control": "no-store",
    vary: "Origin",
    "x-content-type-options": "nosniff",
    "x-request-id": id,
  };
  const refuse = (status, kind, more) => ({
    rejection: buildProblem(status, kind, id, headers, more),
  });
  const { origin, path, query } = splitUrl(request.url);
  const caller = request.headers.get("origin");
  if (caller !== null) {
    const isAllowed = ORIGINS.has(caller);
    if (!isAllowed && origin !== caller) return refuse(403, "origin-not-allowed");
    if (isAllowed) {
      headers["access-control-allow-origin"] = caller;
      headers["access-control-expose-headers"] = EXPOSED;
    }
  }
  const match = matchRoute(path);
  if (!match) return refuse(404, "not-found");
  const { method } = match.route;
  if (request.method === "OPTIONS") return { rejection: respondToPreflight(method, headers) };
  if (request.method !== method) return refuse(405, "method-not-allowed");
  const { problem, ...call } = await authorize(request, match, query);
  if (!problem) return { call: { id, headers, ...call } };
  Object.assign(headers, problem.headers);
  return refuse(problem.status, problem.kind, problem.more);
}

/** Checks the token, the ids in the path, the project, the scope, the query and the body. */
async function authorize(request, { route, project: projectText, job: jobText }, queryText) {
  const { claims, error } = await verifyToken(request.headers.get("authorization"));
  if (error !== undefined) {
    const headers = { "www-authenticate": 'Bearer realm="bench", error="invalid_token"' };
    return { problem: { status: 401, kind: "invalid-token", headers, more: { detail: error } } };
  }
  const project = decodeSegment(projectText);
  const job = jobText === undefined ? "" : decodeSegment(jobText);
  if (project === undefined || job === undefined) return { problem: INVALID };
  const denied = findAccessProblem(claims, project, route.scope);
  if (denied) return { problem: { status: 403, kind: denied } };
  const query = parseQuery(queryText, route.query);
  if (query.invalid) return { problem: { ...INVALID, more: { field: query.invalid } } };
  const target = route.buildTarget(project, job) + query.text;
  const call = { operation: route.operation, caller: claims.sub, project, target };
  if (route.method === "GET") return call;
  const { body, status } = await readBody(request);
  return body === undefined ? { problem: { ...INVALID, status } } : { ...call, body };
}

const INVALID = { status: 400, kind: "invalid-request" };

/** Splits a URL without decoding or resolving any of it. */
function splitUrl(url) {
  const pathAt = url.indexOf("/", 8);
  const queryAt = url.indexOf("?", pathAt);
  const end = queryAt < 0 ? url.length : queryAt;
  return { origin: url.slice(0, pathAt), path: url.slice(pathAt, end), query: url.slice(end + 1) };
}

function respondToPreflight(method, headers) {
  headers["access-control-allow-methods"] = method;
  headers["access-control-allow-headers"] = "Authorization, Content-Type, Idempotency-Key";
  headers["access-control-max-age"] = "7200";
  return new Response(null, { status: 204, headers });
}

/** Finds the operation of a path by its exact segments. */
function matchRoute(path) {
  const [, version, kind, project, what, job, ...more] = path.split("/");
  if (!project || more.length > 0) return undefined;
  if (version === "v1" && kind === "analytics" && what === "views" && job === undefined) {
    return { route: VIEWS, project };
  }
  if (version !== "v2" || kind !== "agent" || what !== "job" || job === "") return undefined;
  return { route: job === undefined ? CREATE : READ, project, job };
}

/** Parses a query. Returns its rebuilt `text`, or the name of the `invalid` parameter. */
function parseQuery(text, known) {
  const values = {};
  let clean = "";
  for (const [name, value] of text === "" ? [] : new URLSearchParams(text)) {
    if (!Object.hasOwn(known, name) || Object.hasOwn(values, name)) return { invalid: name };
    if (!known[name](value)) return { invalid: name };
    values[name] = value;
    clean += `${clean === "" ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return isRange(values.dateFrom, values.dateTo) ? { text: clean } : { invalid: "dateFrom" };
}

/** Verifies a token. Returns its `claims` or an `error`. */
async function verifyToken(authorization) {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return { error: "no access token" };
  const [head, payload, signature, more] = token.split(".");
  if (signature === undefined || more !== undefined) return NOT_A_JWT;
  try {
    const { alg, typ, crit } = decodeTokenPart(head);
    const isJwt = typ === undefined || typ.toLowerCase() === "jwt";
    if (alg !== "HS256" || crit !== undefined || !isJwt) return NOT_A_JWT;
    const signed = encoder.encode(token.slice(0, token.length - signature.length - 1));
    const bytes = Uint8Array.fromBase64(signature, BASE64URL);
    if (!(await crypto.subtle.verify("HMAC", await importKey(), bytes, signed))) {
      return { error: "the signature is wrong" };
    }
    const claims = decodeTokenPart(payload);
    const error = findClaimsProblem(claims, Date.now() / 1000);
    return error === undefined ? { claims } : { error };
  } catch {
    return NOT_A_JWT;
  }
}

const NOT_A_JWT = { error: "not a JWT signed with HS256" };

function decodeTokenPart(text) {
  return JSON.parse(decoder.decode(Uint8Array.fromBase64(text, BASE64URL)));
}

async function importKey() {
  const secret = encoder.encode(env.ACCESS_TOKEN_SECRET);
  key ??= await crypto.subtle.importKey("raw", secret, HMAC, false, ["verify"]);
  return key;
}

/** Reads a new job. Returns the rebuilt `body`, or the `status` of a rejection. */
async function readBody(request) {
  if (!isJsonType(request.headers.get("content-type"))) return { status: 415 };
  if (Number(request.headers.get("content-length")) > MAX_BODY) return { status: 413 };
  const text = await request.text();
  if (text.length > MAX_BODY) return { status: 413 };
  try {
    const { prompt, ...more } = JSON.parse(text);
    const isGood = typeof prompt === "string" && prompt !== "" && Object.keys(more).length === 0;
    return isGood ? { body: JSON.stringify({ prompt }) } : { status: 400 };
  } catch {
    return { status: 400 };
  }
}
