/** Rules and problems of the Hono Worker. */

/** Maximum job from upstream, in bytes. */
export const MAX_JOB = 64 * 1024;
/** Maximum lifetime of a token, in seconds. */
const MAX_LIFETIME = 90 * 86_400;
/** Maximum difference between clocks, in seconds. */
const LEEWAY = 60;

const AMBIGUOUS = /[/\\%?#\p{Cc}]/u;
// --- requests --------------------------------------------------------------

/** Decodes a path segment, or returns `undefined` if it is invalid, empty or ambiguous. */
export function decodeSegment(text) {
  try {
    const decoded = text.includes("%") ? decodeURIComponent(text) : text;
    const isSafe =
      decoded !== "" && decoded !== "." && decoded !== ".." && !AMBIGUOUS.test(decoded);
    return isSafe ? decoded : undefined;
  } catch {
    return undefined;
  }
}

export function findClaimsProblem(claims, now) {
  const { iss, sub, projects, scope, iat, exp, nbf } = claims;
  const isComplete =
    typeof iss === "string" && typeof sub === "string" && typeof scope === "string";
  if (!isComplete || !Array.isArray(projects)) return "the claims are incomplete";
  if (!Number.isFinite(iat) || !Number.isFinite(exp)) return "the claims are incomplete";
  if (iss !== "quillgate") return "the access token is from another issuer";
  if (sub === "") return "the access token has no subject";
  if (now >= exp) return "the access token has expired";
  if (iat > now + LEEWAY || nbf > now + LEEWAY) return "the access token is not valid yet";
  return exp - iat > MAX_LIFETIME ? "the access token's lifetime is too long" : undefined;
}

export function findAccessProblem({ projects, scope }, project, needed) {
  if (!projects.includes(project)) return "project-not-allowed";
  return scope.split(" ").includes(needed) ? undefined : "insufficient-scope";
}

// --- upstream responses ----------------------------------------------------

/** Whether a `Content-Type` is JSON, with any parameters. */
export function isJsonType(type) {
  return type?.split(";", 1)[0].trim().toLowerCase() === "application/json";
}

// --- problems --------------------------------------------------------------

/** Builds a problem (RFC 9457). */
export function buildProblem(status, kind, id, headers, more) {
  const body = { type: `/problems/${kind}`, title: kind, status, instance: id, ...more };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}
