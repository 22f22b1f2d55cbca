/** Reads a gateway's event stream of its list of jobs. */

import type { JobListChange } from "./agent_jobs.js";
import type { ApiError } from "./errors.js";
import { EventParser, type StreamEvent } from "./event_stream.js";
import {
  DEFAULT_RETRY,
  isStream,
  openStream,
  readEvents,
  type Tools,
  Watchdog,
} from "./job_stream.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { JobPage, ListedJob } from "./types.js";

/** Consecutive failed attempts before the error is thrown. The default delays add up to 45 s. */
const MAX_FAILURES = 5;
/** The property that marks errors of this package. `instanceof` would need an import, see `Tools`. */
const BRAND = Symbol.for("quillgate.error");

/** Yields changes to the list of jobs. Reconnects when the stream ends, until the signal aborts. */
export async function* streamList(
  transport: Transport,
  options: RequestOptions,
  site: Error,
  { follow, sleep }: Tools,
): AsyncGenerator<JobListChange, void, void> {
  const left = new AbortController();
  const { signal } = left;
  const leave = follow(left, options.signal);
  const parser = new EventParser();
  try {
    for (let failures = 0; ; failures++) {
      let asked = 0;
      const watchdog = new Watchdog(signal, follow);
      parser.restart();
      try {
        const call = { ...options, signal: watchdog.signal };
        const response = await openStream(transport, "agentJobs.list", {}, parser.id, call);
        if (!isStream(response)) await takePage(transport, async () => response);
        failures = -1;
        for await (const event of readEvents(response, parser, watchdog)) {
          const change = await readChange(transport, event);
          if (change !== undefined) yield change;
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const isLast = failures + 1 === MAX_FAILURES;
        if (isLast && !isOwn(error)) await takePage(transport, () => Promise.reject(error));
        if (isLast || !mayPass(error)) throw error;
        asked = 1000 * ((error as Partial<ApiError>).retryAfter ?? 0);
      } finally {
        watchdog.end();
      }
      const usual = (parser.retry ?? DEFAULT_RETRY) * 2 ** Math.max(failures, 0);
      await sleep(Math.max(usual, asked), signal);
    }
  } catch (error) {
    // `run` adds the line of the call to the error.
    await transport.run(() => Promise.reject(error), site, options.signal);
  } finally {
    leave();
    left.abort();
  }
}

/** Returns whether an error belongs to this package. Errors of `fetch` do not. */
function isOwn(error: unknown): boolean {
  return BRAND in (error as object);
}

/** Returns whether to retry: after a connection error, 429 or 5xx. */
function mayPass(error: unknown): boolean {
  const { status = 0 } = error as Partial<ApiError>;
  return !isOwn(error) || status === 429 || status >= 500;
}

/**
 * Parses a response as a page of the list. Errors are those of `list`: a `ConnectionError` if `answer`
 * rejects, an `ApiError` if the status is not 2xx.
 */
function takePage(transport: Transport, answer: () => Promise<Response>): PromiseLike<JobPage> {
  const options = { maxRetries: 0 };
  return transport.call("agentJobs.list", {}, options, (sender) => ({ ...sender, send: answer }));
}

async function readChange(
  transport: Transport,
  { event, data }: StreamEvent,
): Promise<JobListChange | undefined> {
  if (event === "reset") return { reset: true };
  if (event !== "job" && event !== "deleted") return undefined;
  // Both events contain a job or its id. The decoder of a page checks them.
  const { jobs } = await takePage(transport, async () => new Response(`{"jobs":[${data}]}`));
  const job = jobs[0] as ListedJob;
  return event === "job" ? { job } : { deleted: job.id };
}
