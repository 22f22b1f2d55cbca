/** The operations of the hand-written Worker. */
import { buildProblem, isJob, MAX_JOB } from "./rules.mjs";
import { requestJson } from "./upstream_client.mjs";

const FORWARDED = ["content-type", "content-language"];
const JOB = { maxBytes: MAX_JOB, isValid: isJob };
const encoder = new TextEncoder();

/**
 * @typedef {import("./admission.mjs").Call} Call
 *
 * @param {Call} call
 */
export async function listViews({ id, headers, caller, target }, request, env) {
  const gate = env.ORG_GATE.getByName("organisation");
  const { failure, page, cache, headers: budget } = await gate.listViews({ caller, target });
  Object.assign(headers, budget);
  if (failure) return buildFailure(failure, id, headers);
  const now = Date.now();
  const lifetime = Math.floor((page.freshUntil - page.fetched) / 1000);
  headers.age = String(Math.floor((now - page.fetched) / 1000));
  headers["cache-control"] = `private, max-age=${lifetime}`;
  headers["cache-status"] = `bench; ${cache}`;
  headers.etag = page.etag;
  headers.vary = "Origin, Authorization";
  if (matchesTag(request.headers.get("if-none-match"), page.etag)) {
    return new Response(null, { status: 304, headers });
  }
  headers["content-type"] = "application/json";
  return new Response(page.text, { headers });
}

/** Compares weakly (RFC 9110, section 13.1.2). */
function matchesTag(ifNoneMatch, etag) {
  if (ifNoneMatch === null) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}

/** @param {Call} call */
export async function readJob({ id, headers, target }) {
  const { failure, response, text } = await requestJson({ method: "GET", target }, JOB);
  if (failure) return buildFailure(failure, id, headers);
  for (const name of FORWARDED) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return new Response(text, { status: response.status, headers });
}

/** @param {Call} call */
export async function createJob({ id, headers, caller, project, target, body }, request, env) {
  const key = request.headers.get("idempotency-key");
  const fingerprint = await hash(`${target}\n${body}`);
  const gate = env.PROJECT_GATE.getByName(project);
  const result = await gate.createJob({ caller, key, fingerprint, target, body });
  Object.assign(headers, result.headers);
  if (result.failure) return buildFailure(result.failure, id, headers);
  headers["content-type"] = "application/json";
  return new Response(result.body, { status: result.status, headers });
}

async function hash(text) {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
  return new Uint8Array(digest).toBase64();
}

/** @param {import("./upstream_client.mjs").Failure} failure */
function buildFailure({ status, kind, more }, id, headers) {
  return buildProblem(status, kind, id, headers, more);
}
