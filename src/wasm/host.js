// What the host does for the core: time, waits and aborts.

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

/** A signal that aborts with `signal`, or by itself after `ms`. */
export class Limit {
  #controller = new AbortController();
  #timer;
  #source;
  #follow = () => this.#controller.abort(this.#source.reason);

  constructor(ms, signal) {
    this.expired = false;
    this.#source = signal;
    this.#timer = setTimeout(() => {
      this.expired = true;
      this.#controller.abort(new DOMException("the time ran out", "TimeoutError"));
    }, ms);
    signal?.addEventListener("abort", this.#follow);
    if (signal?.aborted) this.#follow();
  }

  get signal() {
    return this.#controller.signal;
  }

  /** What `promise` comes to, or the abort: whichever is first, whether it listens or not. */
  race(promise) {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort);
      if (signal.aborted) abort();
      promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    });
  }

  /** Ends the watch over time; what is still running is aborted. */
  end() {
    clearTimeout(this.#timer);
    this.#source?.removeEventListener("abort", this.#follow);
    this.#controller.abort();
  }
}
