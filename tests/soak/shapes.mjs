/**
 * The promised shape of each response. It is written independently of the package's decoders, so
 * that a mistake in those shows.
 */

const STATUSES = ["active", "completed", "archived", "failed"];
const PROBLEM = "application/problem+json";

/** Describes how a response breaks the promised shape. */
export function findShapeFault({ operation, status, contentType, text }) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return `${status} with a body that is not JSON: ${text.slice(0, 200)}`;
  }
  if (status >= 200 && status < 300) {
    if (contentType !== "application/json") return `${status} with content type ${contentType}`;
    const findFault = SHAPES[operation] ?? (() => "no promised shape");
    const fault = findFault(value);
    return fault && `${status} of ${operation} with ${fault}: ${text.slice(0, 200)}`;
  }
  if (contentType !== PROBLEM) return `${status} with content type ${contentType}`;
  const { type, title, instance } = value ?? {};
  const isProblem = [type, title, instance].every(isString) && value.status === status;
  return isProblem ? undefined : `${status} without a valid problem: ${text.slice(0, 200)}`;
}

const SHAPES = {
  create: findJobFault,
  read: findJobFault,
  message: findJobFault,
  views: findViewsFault,
  list: findListFault,
};

function findListFault(value) {
  const { jobs, nextCursor } = value ?? {};
  if (!Array.isArray(jobs)) return "no jobs";
  if (nextCursor !== null && !isString(nextCursor)) return "a wrong nextCursor";
  return findFirstFault(jobs, findListedJobFault);
}

function findJobFault(job) {
  if (!isString(job?.id)) return "no id";
  if (!STATUSES.includes(job.status)) return "an unknown status";
  if (!isString(job.source?.repository) || !isString(job.source.ref)) return "no source";
  if (!isString(job.model)) return "no model";
  if (!isTime(job.createdAt)) return "no createdAt";
  if (job.prLink !== null && !isString(job.prLink)) return "a wrong prLink";
  if (job.archivedAt !== null && !isTime(job.archivedAt)) return "a wrong archivedAt";
  return undefined;
}

function findListedJobFault(job) {
  if (!isString(job?.id)) return "no id";
  if (job.status !== null && !STATUSES.includes(job.status)) return "an unknown status";
  if (!isString(job.prompt) || !isString(job.createdBy)) return "no prompt or creator";
  if (!isTime(job.createdAt)) return "no createdAt";
  return job.prLink === null || isString(job.prLink) ? undefined : "a wrong prLink";
}

function findViewsFault(value) {
  const { totals, views, hasMore } = value ?? {};
  if (typeof hasMore !== "boolean") return "no hasMore";
  if (!Array.isArray(views)) return "no views";
  if (!hasCounts(totals)) return "no totals";
  return findFirstFault(views, (row) =>
    isString(row?.path) && hasCounts(row) ? undefined : "a wrong row",
  );
}

function hasCounts(row) {
  return ["human", "ai", "total"].every((name) => Number.isSafeInteger(row?.[name]));
}

function findFirstFault(items, findFault) {
  for (const item of items) {
    const fault = findFault(item);
    if (fault) return fault;
  }
  return undefined;
}

function isString(value) {
  return typeof value === "string" && value !== "";
}

function isTime(value) {
  return isString(value) && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
}
