/** Streams the changes of one job. */

import { EventParser } from "./event_stream.js";
import type { Tools } from "./exchange.js";
import type { JobChange, JobId } from "./job_types.js";
import type { RequestOptions } from "./options.js";
import { DEFAULT_RETRY, readEvents, Watchdog } from "./stream_connection.js";
import type { Task } from "./task.js";
import type { OpenStream, Transport } from "./transport.js";
import type { AgentJob } from "./types.js";

/** Maximum number of consecutive streams without a `job` event before polling takes over. */
const MAX_BREAKS = 3;
/** The operation that returns the same job as the events. */
const PARENT = "agentJobs.get";

/** The arguments of {@link streamJob}. */
export interface JobWatch {
  transport: Transport;
  watch: Task;
  id: JobId;
  call: RequestOptions & { signal: AbortSignal };
  /** When the watch times out, in milliseconds since the Unix epoch. */
  deadline: number;
}

/**
 * Yields the streamed changes of a job. Returns `true` after its last change, and `false` if no stream
 * is available.
 *
 * @throws {import("./errors.js").DecodeError} if the data of a `job` event is not a job
 * @throws {import("./errors.js").JobWaitTimeoutError} if the job does not finish before `deadline`
 */
export async function* streamJob(
  { transport, watch, id, call, deadline }: JobWatch,
  tools: Tools,
): AsyncGenerator<JobChange, boolean, void> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), Math.max(deadline - Date.now(), 0));
  const { signal } = expiry;
  const unfollow = tools.follow(expiry, call.signal);
  const resource = {
    operation: "agentJobs.events",
    parent: PARENT,
    params: { id },
  } as const;
  const events = streamJobEvents(transport.streamOpener(resource, call), signal, tools);
  try {
    for await (const data of events) {
      // An invalid job ends the watch, as it does when the client polls.
      const change = watch.processEvent(transport.decodeEvent(PARENT, data) as AgentJob);
      if (change !== undefined) yield change;
      if (change?.done) return true;
    }
    return false;
  } catch (error) {
    if (expiry.signal.aborted && !call.signal.aborted) throw watch.expire();
    throw error;
  } finally {
    clearTimeout(timer);
    unfollow();
    expiry.abort();
  }
}

/** Yields the data of every `job` event. Reconnects when the stream breaks, unless it keeps breaking. */
async function* streamJobEvents(
  open: OpenStream,
  signal: AbortSignal,
  { follow, sleep }: Tools,
): AsyncGenerator<string, void, void> {
  const parser = new EventParser();
  let streamed = false;
  for (let breaks = 0; breaks < MAX_BREAKS; breaks++) {
    // Wait even after a stream with events. Otherwise streams that end immediately cause a tight loop.
    if (streamed) await sleep(parser.retry ?? DEFAULT_RETRY, signal);
    const watchdog = new Watchdog(signal, follow);
    parser.restart();
    try {
      const response = await open(parser.id, watchdog.signal);
      streamed = true;
      for await (const { event, data } of readEvents(response, parser, watchdog)) {
        if (event !== "job") continue;
        breaks = -1;
        yield data;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // Poll if the response is not a stream, or if the first connection fails: CORS may block this
      // path for pages of another origin.
      if (!streamed || "headers" in (error as object)) return;
    } finally {
      watchdog.end();
    }
  }
}
