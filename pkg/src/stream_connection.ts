/** A connection to a gateway's event stream. A {@link Watchdog} ends silent connections. */

import type { EventParser, StreamEvent } from "./event_stream.js";
import type { Tools } from "./exchange.js";

/** A stream without data for this many milliseconds is broken. Gateways send a heartbeat every 15 s. */
const MAX_SILENCE = 45_000;
/** Default reconnection delay in milliseconds. */
export const DEFAULT_RETRY = 3_000;

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
    watchdog.reset();
    yield* parser.push(decoder.decode(value, { stream: true }));
  }
}

/** Aborts its `signal` when `outer` aborts or the stream sends no data for 45 s. */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #unfollow: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal, follow: Tools["follow"]) {
    this.#unfollow = follow(this.#controller, outer);
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the timer. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), MAX_SILENCE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#unfollow();
    this.#controller.abort();
  }
}
