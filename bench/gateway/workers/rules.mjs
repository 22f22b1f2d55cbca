/** Validation rules and problems that the hand-written Worker and the Hono Worker share. */

/** Maximum request body, in bytes. */
export const MAX_BODY = 128 * 1024;
/** Maximum job from upstream, in bytes. */
export const MAX_JOB = 64 * 1024;
/** Maximum number of rows on a page. */
const PAGE_ROWS = 250;
/** Maximum lifetime of a token, in seconds. */
const MAX_LIFETIME = 90 * 86_400;
/** Maximum difference between clocks, in seconds. */
const LEEWAY = 60;

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const INTEGER = /^\d{1,16}$/;
const AMBIGUOUS = /[/\\%?#\p{Cc}]/u;
const JOB_STRINGS = ["id", "status", "model", "prLink", "createdAt", "archivedAt"];
const SOURCE_STRINGS = ["repository", "ref"];

// --- requests --------------------------------------------------------------

/** Parses a date into its kind and instant, or returns `undefined`. */
export function parseDate(text) {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const zone = match[8];
  if (hour > 23 || minute > 59 || second > 59 || !isDay(year, month, day)) return undefined;
  const offset = zone === undefined || zone === "Z" ? 0 : parseOffset(zone);
  if (offset === undefined) return undefined;
  const fraction = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000);
  const at = Date.UTC(year, month - 1, day, hour, minute, second, fraction) - offset;
  const kind = match[4] === undefined ? "day" : zone === undefined ? "local" : "instant";
  return { kind, at };
}

function isDay(year, month, day) {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const length = month === 2 && isLeap ? 29 : DAYS[month - 1];
  return length !== undefined && day >= 1 && day <= length;
}

/** Parses an offset such as `+01:00` into milliseconds, or returns `undefined`. */
function parseOffset(zone) {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/**
 * Whether a range can contain a date. An absent bound passes. Bounds of different kinds pass, as
 * they cannot be compared.
 */
export function isRange(dateFrom, dateTo) {
  if (dateFrom === undefined || dateTo === undefined) return true;
  const from = parseDate(dateFrom);
  const to = parseDate(dateTo);
  return from?.kind !== to?.kind || from?.at < to?.at;
}

/** Whether a string is an integer within bounds, written in digits only. */
export function isInteger(text, min, max) {
  return INTEGER.test(text) && Number(text) >= min && Number(text) <= max;
}

/**
 * Decodes a path segment once. Returns `undefined` if its percent-encoding is invalid, or if the
 * result is empty or ambiguous in a path.
 */
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

/** Returns the first problem with a token's claims, or `undefined`. */
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

/** Returns the problem with using a token for a scope on a project, or `undefined`. */
export function findAccessProblem({ projects, scope }, project, needed) {
  if (!projects.includes(project)) return "project-not-allowed";
  return scope.split(" ").includes(needed) ? undefined : "insufficient-scope";
}

// --- upstream responses ----------------------------------------------------

/** Whether a `Content-Type` is JSON, with any parameters. */
export function isJsonType(type) {
  return type?.split(";", 1)[0].trim().toLowerCase() === "application/json";
}

/** Whether JSON is a job. Every property may be absent or `null`. Unknown ones are ignored. */
export function isJob(value) {
  if (!isObject(value) || !hasStrings(value, JOB_STRINGS)) return false;
  const { source } = value;
  return source == null || (isObject(source) && hasStrings(source, SOURCE_STRINGS));
}

/** Whether JSON is a page of views. The client checks the rows. */
export function isPage(value) {
  if (!isObject(value)) return false;
  const { totals, views, hasMore } = value;
  const hasRows = Array.isArray(views) && views.length <= PAGE_ROWS;
  return hasRows && isObject(totals) && typeof hasMore === "boolean";
}

function hasStrings(object, names) {
  return names.every((name) => object[name] == null || typeof object[name] === "string");
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
