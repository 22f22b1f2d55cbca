/**
 * What the hand-written Worker and the Hono Worker check alike: the rules of the gateway's own
 * core (`src/date.rs`, `src/page_views.rs`, `worker/src/route.rs`, `worker/src/access.rs`).
 */

/** The longest body that is read, in bytes. */
export const LARGEST_BODY = 128 * 1024;
/** The longest life of a token, in seconds. */
const LONGEST_LIFE = 90 * 86_400;
/** How far clocks may differ, in seconds. */
const LEEWAY = 60;

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const INTEGER = /^\d{1,16}$/;
const DISGUISE = /[/\\%?#\p{Cc}]/u;

/** What a date says, and which of the three kinds it is; nothing when there is no such date. */
export function point(text) {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const zone = match[8];
  if (hour > 23 || minute > 59 || second > 59 || !isDay(year, month, day)) return undefined;
  const offset = zone === undefined || zone === "Z" ? 0 : offsetOf(zone);
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

/** Milliseconds; nothing for what is no offset. */
function offsetOf(zone) {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Whether a range holds anything, as far as that can be told. */
export function isRange(dateFrom, dateTo) {
  if (dateFrom === undefined || dateTo === undefined) return true;
  const from = point(dateFrom);
  const to = point(dateTo);
  return from?.kind !== to?.kind || from?.at < to?.at;
}

/** Whether text is an integer within bounds, in plain digits. */
export function isInteger(text, least, most) {
  return INTEGER.test(text) && Number(text) >= least && Number(text) <= most;
}

/** A segment of a path, decoded once; nothing for what could be read as another path. */
export function segment(text) {
  try {
    const decoded = text.includes("%") ? decodeURIComponent(text) : text;
    const isSafe = decoded !== "" && decoded !== "." && decoded !== ".." && !DISGUISE.test(decoded);
    return isSafe ? decoded : undefined;
  } catch {
    return undefined;
  }
}

/** Why claims are not good; nothing when they are. */
export function claimsProblem(claims, now) {
  const { iss, sub, projects, scope, iat, exp, nbf } = claims;
  const isComplete =
    typeof iss === "string" && typeof sub === "string" && typeof scope === "string";
  if (!isComplete || !Array.isArray(projects)) return "the claims are not complete";
  if (!Number.isFinite(iat) || !Number.isFinite(exp)) return "the claims are not complete";
  if (iss !== "quillgate") return "the access token is from another issuer";
  if (sub === "") return "the access token has no subject";
  if (now >= exp) return "the access token has expired";
  if (iat > now + LEEWAY || nbf > now + LEEWAY) return "the access token is not valid yet";
  return exp - iat > LONGEST_LIFE ? "the access token lives too long" : undefined;
}

/** Which problem it is to want this of that project; nothing when it is allowed. */
export function accessProblem({ projects, scope }, project, needed) {
  if (!projects.includes(project)) return "project-not-allowed";
  return scope.split(" ").includes(needed) ? undefined : "insufficient-scope";
}

/** A problem as RFC 9457 has it. */
export function problem(status, kind, id, headers, more) {
  const body = { type: `/problems/${kind}`, title: kind, status, instance: id, ...more };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}
