/**
 * A job's changes as a gateway streams them, and what else of jobs only a gateway has. This is loaded by
 * the first use of it.
 */

import type { JobChange, JobId } from "./agent_jobs.js";
import { EventParser, type StreamEvent } from "./event_stream.js";
import type * as exchange from "./exchange.js";
import type { RequestOptions } from "./options.js";
import type { Task } from "./task.js";
import type { Given, Transport } from "./transport.js";
import type { Operations } from "./types.js";

export { streamList } from "./list_stream.js";

/** A stream that says nothing for so long is dead: heartbeats come every 15 s. */
const MAX_SILENCE = 45_000;
/** How long to wait before connecting again, when the server does not say. */
export const DEFAULT_RETRY = 3_000;
/** How often in a row a stream may break without news before it is given up. */
const MAX_BREAKS = 3;

/**
 * What is handed over to a part that is loaded later: an import would make bundlers export it from the
 * application's own file, and some load that file twice.
 */
export type Tools = Pick<typeof exchange, "follow" | "sleep">;

/** Opens the stream, after the event of this id where there is one. */
type Connect = (lastEventId: string, signal: AbortSignal) => Promise<Response>;

/** Yields the changes of a job that a gateway streams, until it is over or there is no stream to be had. */
export async function* streamChanges(
  transport: Transport,
  watch: Task,
  id: JobId,
  call: RequestOptions & { signal: AbortSignal },
  tools: Tools,
): AsyncGenerator<JobChange, void, void> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), watch.time);
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
 * Yields the data of every `job` event, connecting again when the stream breaks. Ends
 * when there is no stream to be had: returns whether there ever was one.
 */
async function* streamJobEvents(
  connect: Connect,
  signal: AbortSignal,
  { follow, sleep }: Tools,
): AsyncGenerator<unknown, boolean, void> {
  const parser = new EventParser();
  let streamed = false;
  for (let breaks = 0; breaks < MAX_BREAKS; breaks++) {
    // Whatever the stream brought before it ended, the next one is waited for.
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
      // A page elsewhere may not even ask a gateway that has no such path.
      if (!streamed) return false;
    } finally {
      watchdog.end();
    }
  }
  return streamed;
}

/** Opens the event stream below what an operation reads: a job, or the list of all. */
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

/** Whether an answer is a stream of events. */
export function isStream(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return response.status === 200 && type.startsWith("text/event-stream") && response.body !== null;
}

/** The events of an answer, as they come. */
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

/** A signal that aborts with another, or when nothing came for too long. */
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
