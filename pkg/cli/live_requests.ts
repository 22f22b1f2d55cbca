/** Sends the requests of `quillgate doctor --live`, and keeps what its report may use. */

import { findCode } from "../opaque_failure.js";
import { send, toAnalyticsPath } from "./raw_request.js";

/** The names of the requests, in their order. */
export type RequestName =
  | "views"
  | "feedback"
  | "feedback by page"
  | "searches"
  | "searches, second page"
  | "searches, by cursor alone"
  | "conversations"
  | "caller stats"
  | "job";

/** A response, or the reason for its absence. */
export interface Seen {
  name: RequestName;
  /** `null` without a response. */
  status: number | null;
  headers: Pick<Headers, "get" | "keys">;
  /** The parsed JSON; a string if the body is not JSON. */
  body: unknown;
  /** In milliseconds. */
  duration: number;
  /** Why there was no response, such as `ECONNREFUSED` or `RequestTimeoutError`. */
  cause: string | null;
}

/** The receiver of the requests. */
export interface Target {
  baseUrl: string;
  projectId: string;
  adminKey: string;
  /** The id of a job to read. By default, an id that no job has. */
  jobId: string | undefined;
  /** In milliseconds since 1970. */
  now: number;
  signal: AbortSignal;
}

const DAY_MS = 86_400_000;
const DAYS = 28;
const TIMEOUT_MS = 30_000;
/** No job has this id. */
const NO_JOB = "quillgate-doctor-no-such-job";

/** Returns the requests that can be named before the first response, as name and path. */
export function planRequests({
  projectId,
  jobId,
  now,
}: Pick<Target, "projectId" | "jobId" | "now">): [RequestName, string][] {
  const [from, to] = [now - DAYS * DAY_MS, now].map((time) =>
    new Date(time).toISOString().slice(0, 10),
  );
  const range = `dateFrom=${from}&dateTo=${to}`;
  const report = (query: string) => toAnalyticsPath(projectId, `${query}&${range}`);
  const job = encodeURIComponent(jobId ?? NO_JOB);
  return [
    ["views", report("views?limit=50")],
    ["feedback", report("feedback?limit=100")],
    ["feedback by page", report("feedback/by-page?limit=10")],
    ["searches", report("searches?limit=100")],
    ["conversations", report("assistant?limit=100")],
    ["caller stats", toAnalyticsPath(projectId, `assistant/caller-stats?${range}`)],
    ["job", `/v2/agent/${encodeURIComponent(projectId)}/job/${job}`],
  ];
}

/**
 * Sends the requests one after another. Stops after a 401 or a 429, which the next requests would
 * only repeat, and after a request without a response.
 *
 * @throws the signal's reason if it aborts
 */
export async function sendRequests(target: Target): Promise<Seen[]> {
  const seen: Seen[] = [];
  const get = async (name: RequestName, path: string): Promise<Seen> => {
    const answered = await sendOne(target, name, path);
    seen.push(answered);
    return answered;
  };
  for (const [name, path] of planRequests(target)) {
    const answered = await get(name, path);
    if (isEnd(answered)) break;
    if (name !== "searches") continue;
    const cursor = readCursor(answered.body);
    if (cursor === null) continue;
    const query = `cursor=${encodeURIComponent(cursor)}`;
    const second = await get("searches, second page", `${path}&${query}`);
    if (isEnd(second)) break;
    if (second.status !== 414) continue;
    const alone = toAnalyticsPath(target.projectId, `searches?limit=100&${query}`);
    if (isEnd(await get("searches, by cursor alone", alone))) break;
  }
  return seen;
}

function isEnd({ status }: Seen): boolean {
  return status === null || status === 401 || status === 429;
}

/** Returns the cursor of the next page. A `nextCursor` can be a URL with a parameter `cursor`. */
function readCursor(body: unknown): string | null {
  const { nextCursor } = (body ?? {}) as { nextCursor?: unknown };
  if (typeof nextCursor !== "string" || nextCursor === "") return null;
  if (!/^https?:\/\//i.test(nextCursor) || !URL.canParse(nextCursor)) return nextCursor;
  return new URL(nextCursor).searchParams.get("cursor") ?? nextCursor;
}

async function sendOne(target: Target, name: RequestName, path: string): Promise<Seen> {
  const { baseUrl, adminKey, signal } = target;
  const headers = { authorization: `Bearer ${adminKey}` };
  const url = baseUrl.replace(/\/+$/, "") + path;
  const started = performance.now();
  try {
    const { response, body } = await send(url, headers, { signal, timeout: TIMEOUT_MS });
    const duration = performance.now() - started;
    return {
      name,
      status: response.status,
      headers: response.headers,
      body,
      duration,
      cause: null,
    };
  } catch (error) {
    signal.throwIfAborted();
    const duration = performance.now() - started;
    // A message can name the host.
    const cause = findCode(error) ?? (error as Error).name;
    return { name, status: null, headers: new Headers(), body: null, duration, cause };
  }
}
