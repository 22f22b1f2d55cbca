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
 * until `outer` aborts, is aborted; that must not have happened yet.
 *
 * The end is not left to the request, which is only told of it: a custom `fetch` may ignore that.
 */
export function exchange(
  send: (signal: AbortSignal) => Promise<Response>,
  within: number,
  outer: AbortSignal | undefined,
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
      controller.abort(cause); // Whatever is still under way, such as a body that nobody reads.
    };
    const expire = () => stop(new DOMException("timed out", "TimeoutError"), true);
    const timer = setTimeout(expire, within);
    const leave = hear(outer, (reason) => stop(reason, false));
    const work = async () => {
      const response = await send(controller.signal);
      end({ response, body: await readBody(response) });
    };
    work().catch((cause) => stop(cause, false));
  });
}

/** Makes a controller abort with a signal. @returns what ends that */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  if (signal?.aborted) controller.abort(signal.reason);
  return hear(signal, (reason) => controller.abort(reason));
}

/** Calls `onAbort` with a signal's reason when it aborts. @returns what ends that */
function hear(signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): () => void {
  const abort = () => onAbort(signal?.reason);
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
