/**
 * Reads a gateway's event streams: the changes of one job, and of the list of jobs. The first `wait`,
 * `watch` or `watchAll` loads this module.
 */

import type { JobChange, JobId } from "./agent_jobs.js";
import { EventParser, type StreamEvent } from "./event_stream.js";
import type * as exchange from "./exchange.js";
import type { RequestOptions } from "./options.js";
import type { Task } from "./task.js";
import type { Given, Transport } from "./transport.js";
import type { Operations } from "./types.js";

export { streamList } from "./list_stream.js";

/** A stream without data for this many milliseconds is broken. Gateways send a heartbeat every 15 s. */
const MAX_SILENCE = 45_000;
/** Default reconnection delay in milliseconds. */
export const DEFAULT_RETRY = 3_000;
/** Maximum number of consecutive streams without a `job` event before polling takes over. */
const MAX_BREAKS = 3;

/**
 * Functions that lazily loaded modules receive as arguments. Imports would make bundlers export them
 * from the application's file, and some bundlers would then load that file twice.
 */
export type Tools = Pick<typeof exchange, "follow" | "sleep">;

/** Opens a stream. It resumes after `lastEventId`, unless that is empty. */
type Connect = (lastEventId: string, signal: AbortSignal) => Promise<Response>;

/** Yields the streamed changes of a job. Ends when the job finishes or no stream is available. */
export async function* streamChanges(
  transport: Transport,
  watch: Task,
  id: JobId,
  call: RequestOptions & { signal: AbortSignal },
  tools: Tools,
): AsyncGenerator<JobChange, void, void> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), watch.timeout);
  const { signal } = expiry;
  const leave = tools.follow(expiry, call.signal);
  const connect: Connect = (lastEventId, signal) =>
    openStream(transport, "agentJobs.get", { id }, lastEventId, { ...call, signal });
  const events = streamJobEvents(connect, signal, tools);
  try {
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done) {
        transport.mayStream = next.value;
        return;
      }
      const change = watch.tell(next.value);
      if (change !== undefined) yield change;
      if (change?.done) return;
    }
  } catch (error) {
    if (expiry.signal.aborted && !call.signal.aborted) throw watch.expire();
    throw error;
  } finally {
    clearTimeout(timer);
    leave();
    expiry.abort();
    await events.return(true);
  }
}

/**
 * Yields the data of every `job` event, and reconnects when the stream breaks. Ends when no stream is
 * available, and returns whether at least one stream was opened.
 */
async function* streamJobEvents(
  connect: Connect,
  signal: AbortSignal,
  { follow, sleep }: Tools,
): AsyncGenerator<unknown, boolean, void> {
  const parser = new EventParser();
  let streamed = false;
  for (let breaks = 0; breaks < MAX_BREAKS; breaks++) {
    // Wait even after a stream with events, so that a stream that keeps ending causes no tight loop.
    if (streamed) await sleep(parser.retry ?? DEFAULT_RETRY, signal);
    const watchdog = new Watchdog(signal, follow);
    parser.restart();
    try {
      const response = await connect(parser.id, watchdog.signal);
      if (!isStream(response)) {
        await response.body?.cancel();
        return streamed;
      }
      streamed = true;
      for await (const { event, data } of readEvents(response, parser, watchdog)) {
        if (event !== "job") continue;
        breaks = -1;
        yield JSON.parse(data);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // If the first connection fails, poll: CORS may block this path for pages of another origin.
      if (!streamed) return false;
    } finally {
      watchdog.end();
    }
  }
  return streamed;
}

/** Requests the event stream of a resource: `/events` below the path of a job or of the job list. */
export async function openStream<Name extends keyof Operations>(
  transport: Transport,
  operation: Name,
  params: Given<Operations[Name]["params"]>,
  lastEventId: string,
  options: RequestOptions,
): Promise<Response> {
  const { signal, ...rest } = options;
  const { url, headers } = await transport.build(operation, params, rest);
  headers.accept = "text/event-stream";
  if (lastEventId !== "") headers["last-event-id"] = lastEventId;
  const init: RequestInit = { headers, redirect: "manual", signal: signal ?? null };
  const request = new Request(`${url}/events`, init);
  const { fetch = globalThis.fetch } = (await transport.sender()).options;
  return await fetch(request);
}

/** Returns whether a response is an event stream. */
export function isStream(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return response.status === 200 && type.startsWith("text/event-stream") && response.body !== null;
}

/** Yields the events of a response. */
export async function* readEvents(
  response: Response,
  parser: EventParser,
  watchdog: Watchdog,
): AsyncGenerator<StreamEvent, void, void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    watchdog.fed();
    yield* parser.push(decoder.decode(value, { stream: true }));
  }
}

/** A signal that aborts together with another signal, or when a stream sends no data for 45 s. */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #leave: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal, follow: Tools["follow"]) {
    this.#leave = follow(this.#controller, outer);
    this.fed();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the timer. */
  fed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), MAX_SILENCE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#leave();
    this.#controller.abort();
  }
}
