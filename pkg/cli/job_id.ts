/** Shortens the ids of jobs, and finds the jobs that short ids name. */

import type { AgentJob, Client, JobId } from "../index.js";
import type { Context } from "./command.js";
import { UsageError } from "./errors.js";
import { toLine } from "./table.js";

/** The minimum length of a prefix that names a job. */
const MIN_PREFIX = 8;
/** Ids of at least this length are not prefixes: Mintlify's have 36 characters. */
const MIN_FULL = 20;
/** The maximum number of jobs to search, newest first. */
const MAX_SEARCHED = 1000;

/**
 * Returns the shortest prefix of each id, of 8 to 19 characters, that no other id starts with. If
 * an id has no such prefix, returns the full id.
 */
export function shortenIds(ids: readonly (string | null)[]): (string | null)[] {
  return ids.map((id) => {
    if (id === null) return null;
    const others = ids.filter((other) => other !== null && other !== id) as string[];
    let length = MIN_PREFIX;
    while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) {
      length++;
    }
    return length < MIN_FULL ? id.slice(0, length) : id;
  });
}

/**
 * Calls a function with an id. If the server knows no such job, searches `job list` for the one whose
 * id starts with it, and calls the function again.
 *
 * @throws {UsageError} if the id is the start of several ids
 */
export async function withJob<T>(
  context: Context,
  client: Client,
  id: JobId,
  call: (id: JobId) => Promise<T>,
): Promise<T> {
  try {
    return await call(id);
  } catch (error) {
    const { status } = error as { status?: number };
    if (status !== 404 && status !== 400) throw error;
    const full = await findFullId(context, client, String(id));
    if (full === undefined) throw error;
    return call(full);
  }
}

/** Reads a job. Returns it with the id that names it, which can be longer than the one given. */
export async function getJob(
  context: Context,
  client: Client,
  id: JobId,
): Promise<{ id: JobId; job: AgentJob }> {
  const { signal } = context;
  return withJob(context, client, id, async (full) => {
    return { id: full, job: await client.agentJobs.get(full, { signal }) };
  });
}

/**
 * Returns the full id of a job for a request that must not be sent twice. Sends a request only for an
 * id that is as short as a prefix.
 */
export async function readFullId(context: Context, client: Client, id: JobId): Promise<JobId> {
  return isPrefix(String(id)) ? (await getJob(context, client, id)).id : id;
}

function isPrefix(id: string): boolean {
  return id.length >= MIN_PREFIX && id.length < MIN_FULL;
}

async function findFullId(
  { signal }: Context,
  client: Client,
  prefix: string,
): Promise<string | undefined> {
  if (!isPrefix(prefix)) return undefined;
  // Mintlify itself has no list of jobs. The first error then explains more.
  const jobs = await client.agentJobs
    .list({ limit: 100 }, { signal })
    .all({ maxRows: MAX_SEARCHED })
    .catch(() => []);
  const found = jobs.filter(({ id }) => id !== prefix && id?.startsWith(prefix));
  if (found.length < 2) return found[0]?.id ?? undefined;
  const candidates = found.map(({ id, prompt }) => toLine(`${id}  ${prompt ?? ""}`).slice(0, 76));
  throw new UsageError(
    `${found.length} jobs have ids that start with ${toLine(prefix)}`,
    candidates,
  );
}
