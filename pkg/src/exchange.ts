/** Sends one request with a timeout and an abort signal. */

/** A response with any status. */
export interface Answer {
  response: Response;
  /** The parsed body; `undefined` if it is not JSON. */
  body: unknown;
}

/** Reads the body of a response. Must throw a `SyntaxError` if it is not JSON. */
export type BodyReader = (response: Response) => Promise<unknown>;

/**
 * Functions that lazily loaded modules receive as arguments. If these modules imported them, some
 * bundlers would load the application's file twice.
 */
export interface Tools {
  follow: typeof follow;
  sleep: typeof sleep;
}

/** A request without a complete response. */
export interface NoAnswer {
  /** The error of `fetch` or of reading the body, or the reason of the abort. */
  cause: unknown;
  /** Whether the timeout expired. */
  expired: boolean;
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
  return new Promise((resolve) => {
    const end = (result: Answer | NoAnswer) => {
      clearTimeout(timer);
      leave();
      resolve(result);
    };
    const stop = (cause: unknown, expired: boolean) => {
      end({ cause, expired });
      controller.abort(cause); // Also cancels an unread body.
    };
    const expire = () => stop(new DOMException("timed out", "TimeoutError"), true);
    const timer = setTimeout(expire, within);
    const leave = addAbortListener(outer, (reason) => stop(reason, false));
    const work = async () => {
      const response = await send(controller.signal);
      end({ response, body: await readBody(response, read) });
    };
    work().catch((cause) => stop(cause, false));
  });
}

/** Aborts a controller when a signal aborts. @returns a function that removes the listener */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  if (signal?.aborted) controller.abort(signal.reason);
  return addAbortListener(signal, (reason) => controller.abort(reason));
}

/** Calls `onAbort` when a signal aborts. @returns a function that removes the listener */
function addAbortListener(
  signal: AbortSignal | undefined,
  onAbort: (reason: unknown) => void,
): () => void {
  const abort = () => onAbort(signal?.reason);
  // Ignore values that are not signals.
  signal?.addEventListener?.("abort", abort);
  return () => signal?.removeEventListener?.("abort", abort);
}

/**
 * Returns the parsed body; `undefined` if it is not JSON. An interrupted body is an error only for 2xx:
 * the status is enough for other responses.
 */
export async function readBody(response: Response, read: BodyReader): Promise<unknown> {
  try {
    return await read(response);
  } catch (error) {
    if (isSuccess(response) && (error as Error | null)?.name !== "SyntaxError") throw error;
    return undefined;
  }
}

/** Checks the status, because a custom `fetch` may return a response without `ok`. */
export function isSuccess({ status }: Response): boolean {
  return status >= 200 && status <= 299;
}

/** Waits `ms` milliseconds. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
  });
}
