/**
 * What the gateway promises of each answer, written apart from the package: a fault that both
 * overlook alike would otherwise not show.
 */

const STATUSES = ["active", "completed", "archived", "failed"];
const PROBLEM = "application/problem+json";

/**
 * Finds what is wrong with an answer by itself, whatever was asked for.
 *
 * @param {{ operation: string, status: number, contentType: string | null, text: string }} answer
 * @returns {string | undefined} nothing when it is as promised
 */
export function findShapeFault({ operation, status, contentType, text }) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return `${status} whose body is not whole JSON: ${text.slice(0, 200)}`;
  }
  if (status >= 200 && status < 300) {
    if (contentType !== "application/json") return `${status} of the type ${contentType}`;
    const faultOf = SHAPES[operation] ?? (() => "no promised shape");
    const fault = faultOf(value);
    return fault && `${status} of ${operation} with ${fault}: ${text.slice(0, 200)}`;
  }
  if (contentType !== PROBLEM) return `${status} of the type ${contentType}`;
  const { type, title, instance } = value ?? {};
  const isProblem = [type, title, instance].every(isText) && value.status === status;
  return isProblem ? undefined : `${status} that is no problem: ${text.slice(0, 200)}`;
}

const SHAPES = { create: jobFault, read: jobFault, message: jobFault, views: viewsFault };
SHAPES.list = (value) => {
  const { jobs, nextCursor } = value ?? {};
  if (!Array.isArray(jobs)) return "no jobs";
  if (nextCursor !== null && !isText(nextCursor)) return "a wrong nextCursor";
  return firstFault(jobs, listedJobFault);
};

function jobFault(job) {
  if (!isText(job?.id)) return "no id";
  if (!STATUSES.includes(job.status)) return "an unknown status";
  if (!isText(job.source?.repository) || !isText(job.source.ref)) return "no source";
  if (!isText(job.model)) return "no model";
  if (!isTime(job.createdAt)) return "no createdAt";
  if (job.prLink !== null && !isText(job.prLink)) return "a wrong prLink";
  if (job.archivedAt !== null && !isTime(job.archivedAt)) return "a wrong archivedAt";
  return undefined;
}

function listedJobFault(job) {
  if (!isText(job?.id)) return "no id";
  if (job.status !== null && !STATUSES.includes(job.status)) return "an unknown status";
  if (!isText(job.prompt) || !isText(job.createdBy)) return "no prompt or creator";
  if (!isTime(job.createdAt)) return "no createdAt";
  return job.prLink === null || isText(job.prLink) ? undefined : "a wrong prLink";
}

function viewsFault(value) {
  const { totals, views, hasMore } = value ?? {};
  if (typeof hasMore !== "boolean") return "no hasMore";
  if (!Array.isArray(views)) return "no views";
  if (!hasCounts(totals)) return "no totals";
  return firstFault(views, (row) => (isText(row?.path) && hasCounts(row) ? undefined : "a row"));
}

function hasCounts(row) {
  return ["human", "ai", "total"].every((name) => Number.isSafeInteger(row?.[name]));
}

function firstFault(items, faultOf) {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault) return fault;
  }
  return undefined;
}

function isText(value) {
  return typeof value === "string" && value !== "";
}

function isTime(value) {
  return isText(value) && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
}
