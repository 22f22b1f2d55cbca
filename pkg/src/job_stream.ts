/** A job's changes as a gateway streams them. This is loaded by the first watch of a job. */

import type { JobChange, JobId } from "./agent_jobs.js";
import { EventParser } from "./event_stream.js";
import type * as exchange from "./exchange.js";
import type { RequestOptions } from "./options.js";
import type { Task } from "./task.js";
import type { Transport } from "./transport.js";

/** A stream that says nothing for so long is dead: heartbeats come every 15 s. */
const LONGEST_SILENCE = 45_000;
const USUAL_RETRY = 3_000;
/** How often in a row a stream may break without news before it is given up. */
const MOST_BREAKS = 3;

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
    transport.stream(id, lastEventId, { ...call, signal });
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
  for (let breaks = 0; breaks < MOST_BREAKS; breaks++) {
    // Whatever the stream brought before it ended, the next one is waited for.
    if (streamed) await sleep(parser.retry ?? USUAL_RETRY, signal);
    const watchdog = new Watchdog(signal, follow);
    parser.restart();
    try {
      const response = await connect(parser.id, watchdog.signal);
      if (!isStream(response)) {
        await response.body?.cancel();
        return streamed;
      }
      streamed = true;
      for await (const data of jobData(response, parser, watchdog)) {
        breaks = -1;
        yield data;
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

function isStream(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return response.status === 200 && type.startsWith("text/event-stream") && response.body !== null;
}

async function* jobData(
  response: Response,
  parser: EventParser,
  watchdog: Watchdog,
): AsyncGenerator<unknown, void, void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    watchdog.fed();
    for (const { event, data } of parser.push(decoder.decode(value, { stream: true }))) {
      if (event === "job") yield JSON.parse(data);
    }
  }
}

/** A signal that aborts with another, or when nothing came for too long. */
class Watchdog {
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
    this.#timer = setTimeout(() => this.#controller.abort(), LONGEST_SILENCE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#leave();
    this.#controller.abort();
  }
}
