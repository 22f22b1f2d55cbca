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
 * One request and its answer's body, within `ms` and until `outer` aborts.
 *
 * The abort is raced against the work, and not only handed to it: an own `fetch` may not
 * listen. The host's own `fetch` is called here and not by gloo-net's `Request::send`, which
 * keeps an error's text and drops the error, and with it its `cause`.
 */
export class Exchange {
  #controller = new AbortController();
  #expired = false;
  #release;
  #aborted;

  constructor(ms, outer) {
    const controller = this.#controller;
    const timer = setTimeout(() => {
      this.#expired = true;
      controller.abort(new DOMException("the time ran out", "TimeoutError"));
    }, ms);
    const follow = () => controller.abort(outer.reason);
    outer?.addEventListener("abort", follow);
    this.#release = () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", follow);
    };
    this.#aborted = new Promise((_, reject) => {
      controller.signal.onabort = () => reject(controller.signal.reason);
    });
    this.#aborted.catch(() => {});
    if (outer?.aborted) follow();
  }

  /**
   * The request; `undefined` when the host refuses its address. (gloo-net's `RequestBuilder` does
   * the same in 2 kB more.)
   */
  request(method, url, headers, body) {
    const { signal } = this.#controller;
    try {
      return new Request(url, { method, headers, body, redirect: "manual", signal });
    } catch {
      return undefined;
    }
  }

  /** Resolves to `{ response, body, malformed }`; rejects with `{ cause, expired }`. */
  async send(request, own, observe) {
    const aborted = this.#aborted;
    try {
      observe?.("request", request);
      const response = await Promise.race([aborted, own ? own(request) : fetch(request)]);
      observe?.("response", response);
      return { response, ...(await Promise.race([aborted, read(response)])) };
    } catch (cause) {
      this.#controller.abort(); // Whatever still runs, such as a body that nobody reads.
      throw { cause, expired: this.#expired };
    } finally {
      this.#release();
    }
  }

  /** Lets go of an exchange that is not sent after all. */
  end() {
    this.#release();
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
