/**
 * The checks of the hand-written Workers, in the gateway's order: origin, route, token,
 * project, scope, values, body.
 */
import { env } from "cloudflare:workers";
import {
  accessProblem,
  claimsProblem,
  isInteger,
  isRange,
  LARGEST_BODY,
  point,
  problem,
  segment,
} from "./rules.mjs";

const ORIGINS = new Set(env.ALLOWED_ORIGINS.split(","));
const EXPOSED = "Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
const BASE64URL = { alphabet: "base64url" };
const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const NO_QUERY = {};
const VIEWS_QUERY = {
  dateFrom: (text) => point(text) !== undefined,
  dateTo: (text) => point(text) !== undefined,
  limit: (text) => isInteger(text, 1, 250),
  offset: (text) => isInteger(text, 0, Number.MAX_SAFE_INTEGER),
};

/** Imported once while the isolate lives. */
let key;

/**
 * Checks a request. Gives `{ refused }`, the answer, or what is to be sent: `id`, the
 * answer's `headers`, `method`, `target`, `body`, and who asks for which project.
 */
export async function admitted(request) {
  const id = crypto.randomUUID();
  const headers = {
    "cache-control": "no-store",
    vary: "Origin",
    "x-content-type-options": "nosniff",
    "x-request-id": id,
  };
  const refused = (status, kind, more) => ({ refused: problem(status, kind, id, headers, more) });
  const { host, path, query } = partsOf(request.url);
  const origin = request.headers.get("origin");
  if (origin !== null) {
    const isAllowed = ORIGINS.has(origin);
    if (!isAllowed && host !== origin) return refused(403, "origin-not-allowed");
    if (isAllowed) Object.assign(headers, corsHeaders(origin));
  }
  const route = routeOf(path);
  if (!route) return refused(404, "not-found");
  if (request.method === "OPTIONS") return { refused: preflight(route, headers) };
  if (request.method !== route.method) return refused(405, "method-not-allowed");
  const call = await permitted(request, route, query, { headers, refused });
  return call.refused ? call : { ...call, id, headers, method: route.method };
}

/** The token, the project, the scope and the values of a request whose route is known. */
async function permitted(request, route, queryText, { headers, refused }) {
  const claims = await identity(request.headers.get("authorization"));
  if (typeof claims === "string") {
    headers["www-authenticate"] = 'Bearer realm="bench", error="invalid_token"';
    return refused(401, "invalid-token", { detail: claims });
  }
  const project = segment(route.project);
  const job = route.job === undefined ? "" : segment(route.job);
  if (project === undefined || job === undefined) return refused(400, "invalid-request");
  const denied = accessProblem(claims, project, route.scope);
  if (denied) return refused(403, denied);
  const query = queryOf(queryText, route.query);
  if (typeof query === "string") return refused(400, "invalid-request", { field: query });
  const target = route.target(project, job) + query.text;
  const call = { caller: claims.sub, project, target };
  if (route.method === "GET") return call;
  const body = await bodyOf(request);
  return typeof body === "number" ? refused(body, "invalid-request") : { ...call, body: body.text };
}

/** The parts of a URL as they are: nothing is decoded, and nothing resolved. */
function partsOf(url) {
  const pathAt = url.indexOf("/", 8);
  const queryAt = url.indexOf("?", pathAt);
  const end = queryAt < 0 ? url.length : queryAt;
  return { host: url.slice(0, pathAt), path: url.slice(pathAt, end), query: url.slice(end + 1) };
}

function corsHeaders(origin) {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
  };
}

function preflight({ method }, headers) {
  headers["access-control-allow-methods"] = method;
  headers["access-control-allow-headers"] = "Authorization, Content-Type, Idempotency-Key";
  headers["access-control-max-age"] = "7200";
  return new Response(null, { status: 204, headers });
}

/** Which operation a path is, by exact segments. */
function routeOf(path) {
  const [, version, kind, project, what, job, ...more] = path.split("/");
  if (!project || more.length > 0) return undefined;
  if (version === "v1" && kind === "analytics" && what === "views" && job === undefined) {
    return { ...VIEWS, project };
  }
  if (version !== "v2" || kind !== "agent" || what !== "job" || job === "") return undefined;
  return job === undefined ? { ...CREATE, project } : { ...READ, project, job };
}

const VIEWS = {
  method: "GET",
  scope: "analytics:read",
  query: VIEWS_QUERY,
  target: (project) => `/v1/analytics/${encodeURIComponent(project)}/views`,
};
const READ = {
  method: "GET",
  scope: "jobs:read",
  query: NO_QUERY,
  target: (project, job) =>
    `/v2/agent/${encodeURIComponent(project)}/job/${encodeURIComponent(job)}`,
};
const CREATE = {
  method: "POST",
  scope: "jobs:create",
  query: NO_QUERY,
  target: (project) => `/v2/agent/${encodeURIComponent(project)}/job`,
};

/** Reads a query; gives the name of the parameter that is not good. */
function queryOf(text, known) {
  const values = {};
  let clean = "";
  for (const [name, value] of text === "" ? [] : new URLSearchParams(text)) {
    if (!Object.hasOwn(known, name) || Object.hasOwn(values, name)) return name;
    if (!known[name](value)) return name;
    values[name] = value;
    clean += `${clean === "" ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return isRange(values.dateFrom, values.dateTo) ? { text: clean } : "dateFrom";
}

/** Verifies a token; gives its claims, or why it is not good. */
async function identity(authorization) {
  const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return "no access token";
  const [head, payload, signature, more] = token.split(".");
  if (signature === undefined || more !== undefined) return "not a signed JWT";
  try {
    const { alg, typ, crit } = partOf(head);
    if (alg !== "HS256" || crit !== undefined) return "an access token of another kind";
    if (typ !== undefined && typ.toLowerCase() !== "jwt") return "an access token of another kind";
    const signed = encoder.encode(token.slice(0, token.length - signature.length - 1));
    const bytes = Uint8Array.fromBase64(signature, BASE64URL);
    if (!(await crypto.subtle.verify("HMAC", await verifyingKey(), bytes, signed))) {
      return "the signature is wrong";
    }
    const claims = partOf(payload);
    return claimsProblem(claims, Date.now() / 1000) ?? claims;
  } catch {
    return "not a signed JWT";
  }
}

function partOf(text) {
  return JSON.parse(decoder.decode(Uint8Array.fromBase64(text, BASE64URL)));
}

async function verifyingKey() {
  const secret = encoder.encode(env.ACCESS_TOKEN_SECRET);
  key ??= await crypto.subtle.importKey("raw", secret, HMAC, false, ["verify"]);
  return key;
}

/** The JSON that is sent, rebuilt from checked values, or the status that refuses a body. */
async function bodyOf(request) {
  const type = request.headers.get("content-type")?.split(";", 1)[0].trim().toLowerCase();
  if (type !== "application/json") return 415;
  if (Number(request.headers.get("content-length")) > LARGEST_BODY) return 413;
  const text = await request.text();
  if (text.length > LARGEST_BODY) return 413;
  try {
    const { prompt, ...more } = JSON.parse(text);
    const isGood = typeof prompt === "string" && prompt !== "" && Object.keys(more).length === 0;
    return isGood ? { text: JSON.stringify({ prompt }) } : 400;
  } catch {
    return 400;
  }
}
