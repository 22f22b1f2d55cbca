/** Reads the event streams of a gateway, and opens them again after they end. */

import {
  type ApiError,
  type ConnectionError,
  captureCallSite,
  locate,
  ValidationError,
} from "./errors.js";
import { EventParser, type StreamEvent } from "./event_stream.js";
import { abortable, abortOnReturn, follow, sleep } from "./exchange.js";
import type { WatchAllOptions } from "./job_types.js";
import type { RequestOptions } from "./options.js";
import type { Task } from "./task.js";
import type { OpenStream, Transport } from "./transport.js";
import type { Watched } from "./watched.js";

/** A stream without data for this many milliseconds is broken. Gateways send a heartbeat every 15 s. */
const MAX_SILENCE = 45_000;
/** Default reconnection delay in milliseconds. */
const DEFAULT_RETRY = 3_000;
/** Minimum reconnection delay in milliseconds, so that `retry: 0` causes no tight loop. */
const MIN_RETRY = 1_000;
/** How long a client polls before it tries a stream again, in milliseconds. */
const STREAM_PAUSE = 60_000;
/** Maximum number of consecutive streams without an event before polling takes over. */
const MAX_BREAKS = 3;
/** The operation whose events have an `id`, as all `deleted` events do, and no other required property. */
const DELETED = "agentJobs.allEvents";
/** Consecutive failed attempts before the error is thrown. The default delays add up to 45 s. */
const MAX_FAILURES = 5;

/** The end of a stream. */
interface StreamEnd {
  /** Whether the server opened the stream. */
  isOpen: boolean;
  /** The error that ended it, if any. */
  error: unknown;
  /** The reconnection delay with jitter, in milliseconds. */
  retry: number;
}

/**
 * Yields the events of a stream. After its end, opens it again after the delay that `decide` returns,
 * or stops for `undefined`.
 *
 * @throws the signal's reason, and the errors of `decide`
 */
async function* readStream(
  open: OpenStream,
  signal: AbortSignal | undefined,
  decide: (end: StreamEnd) => number | undefined,
): AsyncGenerator<StreamEvent, void, void> {
  const parser = new EventParser();
  for (;;) {
    const watchdog = guard(signal, MAX_SILENCE);
    let isOpen = false;
    let error: unknown;
    parser.restart();
    try {
      const response = await open(parser.id, watchdog.signal);
      watchdog.reset();
      isOpen = true;
      const decoder = new TextDecoder();
      for await (const chunk of readChunks(response, watchdog.signal)) {
        watchdog.reset();
        yield* parser.push(decoder.decode(chunk, { stream: true }));
      }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      error = cause;
    } finally {
      watchdog.end();
    }
    const delay = Math.max(parser.retry ?? DEFAULT_RETRY, MIN_RETRY);
    const wait = decide({ isOpen, error, retry: delay * (1 + Math.random() / 4) });
    if (wait === undefined) return;
    await sleep(wait, signal);
  }
}

/**
 * Yields the chunks of a body. That of node-fetch is a stream of Node.js, without readers.
 *
 * @throws the signal's reason, even if a custom `fetch` ignores the signal
 */
async function* readChunks(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const body = response.body as unknown as AsyncIterable<Uint8Array> &
    Partial<Pick<ReadableStream<Uint8Array>, "getReader"> & { destroy(): void }>;
  const reader = body.getReader?.();
  const chunks = reader ? { next: () => reader.read() } : body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await abortable(chunks.next(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader?.cancel().catch(() => {});
    body.destroy?.();
  }
}

/** A signal that also aborts when its time has passed, and at its end. */
interface Guard {
  readonly signal: AbortSignal;
  /** Restarts the time. */
  reset(): void;
  end(): void;
}

/** Returns a signal that aborts when `outer` does, or `ms` milliseconds after the last reset. */
function guard(outer: AbortSignal | undefined, ms: number): Guard {
  const controller = new AbortController();
  const unfollow = follow(controller, outer);
  const abort = () => controller.abort();
  let timer = setTimeout(abort, ms);
  return {
    signal: controller.signal,
    reset() {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    end() {
      clearTimeout(timer);
      unfollow();
      abort();
    },
  };
}

/** The arguments of {@link streamResource}. */
interface ResourceWatch {
  transport: Transport;
  watch: Task;
  resource: Watched;
  id: string | null;
  call: RequestOptions;
  /** When the watch times out, in milliseconds since the Unix epoch. */
  deadline: number;
}

/**
 * Yields the streamed changes of a resource. Returns `undefined` after its last change. If no stream is
 * available, and at `deadline`, the client must poll: returns when it may try a stream again, in
 * milliseconds since the Unix epoch.
 *
 * @throws {import("./errors.js").DecodeError} if the data of an event is not the resource
 */
export async function* streamResource<NamedChange>({
  transport,
  watch,
  resource,
  id,
  call,
  deadline,
}: ResourceWatch): AsyncGenerator<NamedChange, number | undefined, void> {
  const expiry = guard(call.signal, Math.max(deadline - Date.now(), 0));
  let breaks = 0;
  let wasOpen = false;
  let last: unknown;
  const decide = ({ isOpen, error, retry }: StreamEnd) => {
    wasOpen ||= isOpen;
    last = error;
    // Poll if the response is not a stream, or if the first connection fails: CORS may block this
    // path for pages of another origin.
    if (error !== undefined && (!wasOpen || "headers" in (error as object))) return undefined;
    breaks += 1;
    // Wait even after a stream with events. Otherwise streams that end immediately cause a tight loop.
    return breaks < MAX_BREAKS ? retry : undefined;
  };
  try {
    const open = transport.streamOpener(resource.events(id), call);
    for await (const { event, data } of readStream(open, expiry.signal, decide)) {
      if (event !== resource.name) continue;
      breaks = -1;
      // An invalid event ends the watch, as an invalid response does when the client polls.
      const change = watch.processEvent(transport.decodeEvent(resource.get, data));
      if (change === undefined) continue;
      const { data: state, done } = change;
      yield { [resource.name]: state, done } as NamedChange;
      if (done) return undefined;
    }
    const next = Date.now() + STREAM_PAUSE;
    // A 404 is about this resource only.
    if ((last as ApiError | undefined)?.status !== 404) transport.nextStreamAt = next;
    return next;
  } catch (error) {
    if (error !== expiry.signal.reason || call.signal?.aborted) throw error;
    return Number.POSITIVE_INFINITY;
  } finally {
    expiry.end();
  }
}

/**
 * Yields changes to a list. Reconnects when the stream ends, until the signal aborts.
 *
 * @throws permanent errors, the error of the fifth failed attempt in a row, or the signal's reason
 */
export function streamList<ListChange>(
  transport: Transport,
  watched: Watched,
  given: WatchAllOptions | undefined,
  site = captureCallSite(),
): AsyncGenerator<ListChange, void, void> {
  return abortOnReturn(given, async function* ({ after, ...options }) {
    try {
      const reopen = transport.streamOpener(watched.allEvents, options);
      const start = toEventId(after ?? null);
      const resume: OpenStream = (id, signal) => reopen(id || start, signal);
      for await (const event of readStream(resume, options.signal, retryPolicy(reopen))) {
        const change = readChange(transport, watched, event);
        if (change !== undefined) yield change as ListChange;
      }
    } catch (error) {
      throw locate(error, site, options.signal);
    }
  });
}

/** @throws {import("./errors.js").ValidationError} if the number cannot be that of a change */
function toEventId(after: number | null): string {
  if (after === null) return "";
  if (!(Number.isSafeInteger(after) && after >= 0)) {
    throw new ValidationError("after must be an integer from 0", "after", "offset");
  }
  return String(after);
}

/** Returns the policy of the list's stream: the delay doubles with each failure in a row. */
function retryPolicy(open: OpenStream): (end: StreamEnd) => number {
  let failures = 0;
  return ({ isOpen, error, retry }) => {
    if (isOpen) failures = 0;
    // An open stream ended or broke, so connect again without counting a failure.
    if (isOpen || error === undefined) return retry;
    failures += 1;
    if (failures === MAX_FAILURES || !isRetryable(error)) throw error;
    const { retryAfter } = error as Partial<ApiError>;
    const wait = Math.max(retry * 2 ** (failures - 1), 1000 * (retryAfter ?? 0));
    open.observer?.onRetry(error as ApiError | ConnectionError, wait);
    return wait;
  };
}

/** Returns whether to retry: after a connection error, 429 or 5xx. */
function isRetryable(error: unknown): boolean {
  const { canRetry, status = 0 } = error as Partial<ApiError & ConnectionError>;
  return canRetry === true || status === 429 || status >= 500;
}

/**
 * Returns the change that an event reports; `undefined` for events of other types.
 *
 * @throws {import("./errors.js").DecodeError} if the data of an event is invalid
 */
function readChange(
  transport: Transport,
  { name, allEvents }: Watched,
  { event, data }: StreamEvent,
): object | undefined {
  if (event === "reset") return { reset: true };
  if (event === name) return { [name]: transport.decodeEvent(allEvents.operation, data) };
  if (event !== "deleted") return undefined;
  const { id } = transport.decodeEvent(DELETED, data) as { id: string };
  return { deleted: id };
}
