/** A job's changes as a gateway streams them. */

import { EventParser } from "./event_stream.js";
import { follow, sleep } from "./exchange.js";

/** A stream that says nothing for so long is dead: heartbeats come every 15 s. */
const LONGEST_SILENCE = 45_000;
const USUAL_RETRY = 3_000;
/** How often in a row a stream may break without news before it is given up. */
const MOST_BREAKS = 3;

/** Opens the stream, after the event of this id where there is one. */
export type Connect = (lastEventId: string, signal: AbortSignal) => Promise<Response>;

/**
 * Yields the data of every `job` event, connecting again when the stream breaks. Ends
 * when there is no stream to be had: returns whether there ever was one.
 */
export async function* streamJobEvents(
  connect: Connect,
  signal: AbortSignal,
): AsyncGenerator<unknown, boolean, void> {
  const parser = new EventParser();
  let streamed = false;
  for (let breaks = 0; breaks < MOST_BREAKS; breaks++) {
    // Whatever the stream brought before it ended, the next one is waited for.
    if (streamed) await sleep(parser.retry ?? USUAL_RETRY, signal);
    const watchdog = new Watchdog(signal);
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

  constructor(outer: AbortSignal) {
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
