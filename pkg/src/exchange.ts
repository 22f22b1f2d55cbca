/** Sends one request with a timeout and an abort signal, and aborts iterations. */

import { ownProperties } from "./known.js";

/** A response with any status. */
export interface Answer {
  response: Response;
  /** The parsed body; `undefined` if it is not JSON. */
  body: unknown;
}

/** Reads the body of a response. Must throw a `SyntaxError` if it is not JSON. */
export type BodyReader = (response: Response) => Promise<unknown>;

/** A request without a complete response. */
export interface NoAnswer {
  /** The error of `fetch` or of reading the body, or the reason of the abort. */
  cause: unknown;
  /** Whether the timeout expired. */
  expired: boolean;
  /** The response if its head has arrived. */
  response: Response | undefined;
}

/**
 * Sends a request and reads the body of its response. Aborts after `within` milliseconds, or when
 * `outer` aborts. `outer` must not be aborted yet.
 *
 * The promise resolves even if a custom `fetch` ignores its signal.
 */
export function exchange(
  send: (signal: AbortSignal) => Promise<Response>,
  within: number,
  outer: AbortSignal | undefined,
  read: BodyReader = (response) => response.json(),
): Promise<Answer | NoAnswer> {
  const controller = new AbortController();
  let response: Response | undefined;
  return new Promise((resolve) => {
    const end = (result: Answer | NoAnswer) => {
      clearTimeout(timer);
      leave();
      resolve(result);
    };
    const stop = (cause: unknown, expired: boolean) => {
      end({ cause, expired, response });
      controller.abort(cause); // Also cancels an unread body.
    };
    const expire = () => stop(new DOMException("timed out", "TimeoutError"), true);
    const timer = setTimeout(expire, within);
    const leave = addAbortListener(outer, (reason) => stop(reason, false));
    const work = async () => {
      response = await send(controller.signal);
      // A custom `fetch` can ignore the signal.
      if (controller.signal.aborted) await response.body?.cancel?.();
      else end({ response, body: await readBody(response, read) });
    };
    work().catch((cause) => stop(cause, false));
  });
}

/** Aborts a controller when a signal aborts. @returns a function that removes the listener */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  if (signal?.aborted) controller.abort(signal.reason);
  return addAbortListener(signal, (reason) => controller.abort(reason));
}

/**
 * Starts a generator with a copy of `options`. Its `signal` also aborts on `return` and `throw`. A
 * bare generator would handle these only after a pending `next`.
 */
export function abortOnReturn<T, Options extends { signal?: AbortSignal | undefined }>(
  options: Options | undefined,
  start: (options: Options) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const controller = new AbortController();
  const own = ownProperties(options);
  const outer = own.signal;
  own.signal = controller.signal;
  const generator = start(own);
  const end: IteratorReturnResult<void> = { done: true, value: undefined };
  let unfollow: (() => void) | undefined;
  let hasLeft = false;
  const iterator: typeof generator = Object.create(generator);
  iterator.next = async () => {
    // Not earlier, because an iterator that is never used has no end.
    unfollow ??= follow(controller, outer);
    let result: IteratorResult<T, void> = end;
    try {
      result = await generator.next();
    } catch (error) {
      if (!hasLeft) throw error;
    } finally {
      if (result.done) unfollow();
    }
    return hasLeft ? end : result;
  };
  iterator.return = async (value) => {
    hasLeft = true;
    controller.abort();
    await Promise.all([generator.return(), iterator.next()]);
    return { done: true, value: await value };
  };
  iterator.throw = async (error) => {
    await iterator.return();
    throw error;
  };
  return iterator;
}

/** Called when a signal aborts. */
type OnAbort = (reason: unknown) => void;

/**
 * One listener per signal, because Node.js warns about eleven. Many calls can share a signal.
 */
const listeners = new WeakMap<AbortSignal, { calls: Set<OnAbort>; listen: () => void }>();

/** Calls `onAbort` when a signal aborts. @returns a function that removes the listener */
function addAbortListener(signal: AbortSignal | undefined, onAbort: OnAbort): () => void {
  // Ignore values that are not signals.
  if (!signal?.addEventListener) return () => {};
  const call: OnAbort = (reason) => onAbort(reason);
  const shared = listeners.get(signal);
  if (shared) shared.calls.add(call);
  else {
    const calls = new Set([call]);
    const listen = () => {
      for (const each of calls) each(signal.reason);
    };
    listeners.set(signal, { calls, listen });
    signal.addEventListener("abort", listen);
  }
  return () => {
    const { calls, listen } = listeners.get(signal) ?? {};
    if (!calls?.delete(call) || calls.size > 0) return;
    // Polyfills of React Native have no `removeEventListener`.
    signal.removeEventListener?.("abort", listen as () => void);
    listeners.delete(signal);
  };
}

/**
 * Returns the parsed body; `undefined` if it is not JSON. An interrupted body is an error only for 2xx:
 * the status is enough for other responses.
 */
async function readBody(response: Response, read: BodyReader): Promise<unknown> {
  try {
    return await read(response);
  } catch (error) {
    const { name, type } = (error ?? {}) as Error & { type?: unknown };
    const isNotJson = name === "SyntaxError" || type === "invalid-json"; // The latter in node-fetch 2.
    if (isSuccess(response) && !isNotJson) throw error;
    return undefined;
  }
}

/** Checks the status, because a custom `fetch` may return a response without `ok`. */
export function isSuccess({ status }: Response): boolean {
  return status >= 200 && status <= 299;
}

/** The maximum delay of `setTimeout`. A longer one would end immediately. */
const MAX_DELAY = 2 ** 31 - 1;

/** Waits `ms` milliseconds, or 24.8 days. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const delay = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_DELAY));
  });
  return abortable(delay, signal).finally(() => clearTimeout(timer));
}

/** Settles as `work`, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    const leave = addAbortListener(signal, reject);
    work.then(resolve, reject).finally(leave);
  });
}
