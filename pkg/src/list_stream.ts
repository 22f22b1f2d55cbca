/** What happens to the list of a gateway's jobs, as it streams that. */

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

/** How often in a row there may be no stream before the reason is thrown: after a good minute. */
const MAX_FAILURES = 5;
/** What every error of this package has. */
const BRAND = Symbol.for("quillgate.error");

/** Yields what happens to the list, connecting again when the stream ends, until it is taken back. */
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
    // With the line of the call, as any error.
    await transport.run(() => Promise.reject(error), site, options.signal);
  } finally {
    leave();
    left.abort();
  }
}

/** Whether an error is one of this package's, and not that of a connection. */
function isOwn(error: unknown): boolean {
  return BRAND in (error as object);
}

/** Whether another attempt may do: the connection broke, streams are too many, or the server fails. */
function mayPass(error: unknown): boolean {
  const { status = 0 } = error as Partial<ApiError>;
  return !isOwn(error) || status === 429 || status >= 500;
}

/**
 * Takes in an answer as that to a list.
 *
 * @throws what any call throws at such an answer, and when there is none
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
  // Either has the id of a job: it is checked as a job of a page is.
  const { jobs } = await takePage(transport, async () => new Response(`{"jobs":[${data}]}`));
  const job = jobs[0] as ListedJob;
  return event === "job" ? { job } : { deleted: job.id };
}
