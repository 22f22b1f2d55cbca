/** One request and the body of its answer, within a time and until a signal aborts. */

/** An answer, whatever its status. */
export interface Answer {
  response: Response;
  /** The parsed body; `undefined` when it is not JSON. */
  body: unknown;
}

/** No answer, or not all of one. */
export interface NoAnswer {
  /** What the host says. */
  cause: unknown;
  /** Whether the time ran out. */
  expired: boolean;
}

/**
 * Sends a request and reads its answer's body. What takes longer than `within` milliseconds, or
 * until `outer` aborts, is aborted.
 *
 * The abort is raced against the work, and not only handed to it: a custom `fetch` may ignore it.
 */
export async function exchange(
  send: (signal: AbortSignal) => Promise<Response>,
  within: number,
  outer: AbortSignal | undefined,
): Promise<Answer | NoAnswer> {
  const controller = new AbortController();
  const { signal } = controller;
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new DOMException("timed out", "TimeoutError"));
  }, within);
  const aborted = new Promise<never>((_, reject) => {
    signal.onabort = () => reject(signal.reason);
  });
  aborted.catch(() => {});
  const leave = follow(controller, outer);
  try {
    const response = await Promise.race([aborted, send(signal)]);
    return { response, body: await Promise.race([aborted, readBody(response)]) };
  } catch (cause) {
    controller.abort(); // Whatever is still under way, such as a body that nobody reads.
    return { cause, expired };
  } finally {
    clearTimeout(timer);
    leave();
  }
}

/** Makes a controller abort with a signal. @returns what ends that */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  // What is not a signal cannot abort anything, and is ignored.
  signal?.addEventListener?.("abort", abort);
  return () => signal?.removeEventListener?.("abort", abort);
}

/** A success has to have its body; any other answer has said what it is by its status. */
async function readBody(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (response.ok && (error as Error | null)?.name !== "SyntaxError") throw error;
    return undefined;
  }
}

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
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
