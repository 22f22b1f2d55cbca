// What the host does for the core: requests, time, waits and aborts.

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const finish = (settle) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
    };
    const abort = () => finish(() => reject(signal.reason));
    const timer = setTimeout(() => finish(resolve), ms);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
  });
}

/**
 * Sends a request and reads the answer's body, within `ms` and until `signal` aborts.
 * Resolves to `{ response, body, malformed }`; rejects with `{ cause, expired }`.
 *
 * The abort is raced against the work, and not only handed to it: an own `fetch` may not
 * listen. The host's own `fetch` is called here and not by gloo-net's `Request::send`, which
 * keeps an error's text and drops the error, and with it its `cause`.
 */
export async function exchange(request, own, ms, signal, observe) {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new DOMException("the time ran out", "TimeoutError"));
  }, ms);
  const follow = () => controller.abort(signal.reason);
  signal?.addEventListener("abort", follow);
  if (signal?.aborted) follow();
  const aborted = new Promise((_, reject) => {
    const abort = () => reject(controller.signal.reason);
    if (controller.signal.aborted) abort();
    controller.signal.addEventListener("abort", abort);
  });
  try {
    const sent = new Request(request, { signal: controller.signal });
    observe?.("request", sent);
    const response = await Promise.race([aborted, own ? own(sent) : fetch(sent)]);
    observe?.("response", response);
    return { response, ...(await Promise.race([aborted, read(response)])) };
  } catch (cause) {
    throw { cause, expired };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", follow);
    aborted.catch(() => {});
    controller.abort(); // Whatever still runs, such as a body that nobody reads.
  }
}

/** A success has to have its body; what refuses has said so by its status. */
async function read(response) {
  try {
    return { body: await response.json(), malformed: false };
  } catch (error) {
    if (response.ok && error?.name !== "SyntaxError") throw error;
    return { malformed: true };
  }
}
