/** Streams the changes of the list of jobs. */

import type { ApiError, ConnectionError } from "./errors.js";
import { EventParser, type StreamEvent } from "./event_stream.js";
import type { Tools } from "./exchange.js";
import type { JobListChange } from "./job_types.js";
import type { RequestOptions } from "./options.js";
import { DEFAULT_RETRY, readEvents, Watchdog } from "./stream_connection.js";
import type { Transport } from "./transport.js";
import type { ListedJob } from "./types.js";

/** Consecutive failed attempts before the error is thrown. The default delays add up to 45 s. */
const MAX_FAILURES = 5;
/** The name of the operation in logs and hooks, and for the decoder. */
const OPERATION = "agentJobs.allEvents";

/**
 * Yields changes to the list of jobs. Reconnects when the stream ends, until the signal aborts.
 *
 * @throws permanent errors, the error of the fifth failed attempt in a row, or the signal's reason
 */
export async function* streamList(
  transport: Transport,
  options: RequestOptions,
  site: Error,
  tools: Tools,
): AsyncGenerator<JobListChange, void, void> {
  const left = new AbortController();
  const unfollow = tools.follow(left, options.signal);
  try {
    yield* reconnect(transport, options, left.signal, tools);
  } catch (error) {
    // `run` adds the line of the call to the error.
    await transport.run(() => Promise.reject(error), site, options.signal);
  } finally {
    unfollow();
    left.abort();
  }
}

async function* reconnect(
  transport: Transport,
  options: RequestOptions,
  signal: AbortSignal,
  { follow, sleep }: Tools,
): AsyncGenerator<JobListChange, void, void> {
  const parser = new EventParser();
  const resource = { operation: OPERATION, parent: "agentJobs.list", params: {} } as const;
  const open = transport.streamOpener(resource, options);
  for (let failures = 0; ; failures++) {
    const delay = () => (parser.retry ?? DEFAULT_RETRY) * 2 ** Math.max(failures, 0);
    let wait: number | undefined;
    const watchdog = new Watchdog(signal, follow);
    parser.restart();
    try {
      const response = await open(parser.id, watchdog.signal);
      failures = -1;
      for await (const event of readEvents(response, parser, watchdog)) {
        const change = readChange(transport, event);
        if (change !== undefined) yield change;
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // An open stream broke, so connect again without counting a failure.
      const isBroken = failures < 0 && !("path" in (error as object));
      if (!isBroken && (failures + 1 === MAX_FAILURES || !isRetryable(error))) throw error;
      if (!isBroken) {
        wait = Math.max(delay(), 1000 * ((error as Partial<ApiError>).retryAfter ?? 0));
        open.observer?.onRetry(error as ApiError | ConnectionError, wait);
      }
    } finally {
      watchdog.end();
    }
    await sleep(wait ?? delay(), signal);
  }
}

/** Returns whether to retry: after a connection error, 429 or 5xx. */
function isRetryable(error: unknown): boolean {
  const { name, status = 0 } = error as Partial<ApiError>;
  return name === "ConnectionError" || status === 429 || status >= 500;
}

/**
 * Returns the change that an event reports; `undefined` for events of other types.
 *
 * @throws {import("./errors.js").DecodeError} if the data of a `job` or `deleted` event is invalid
 */
function readChange(transport: Transport, { event, data }: StreamEvent): JobListChange | undefined {
  if (event === "reset") return { reset: true };
  if (event !== "job" && event !== "deleted") return undefined;
  // The data of a `deleted` event is an object with the job's id.
  const job = transport.decodeEvent(OPERATION, data) as ListedJob;
  return event === "job" ? { job } : { deleted: job.id };
}
