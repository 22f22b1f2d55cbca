/**
 * A fake server and a fake clock for the client's tests.
 *
 * The clock stands still while a request makes progress. Otherwise it jumps to the next timer, so
 * tests assert delays without waiting for them.
 */
const real = { setTimeout, clearTimeout, now: Date.now, random: Math.random, fetch };

/** The initial time of every host. */
const START = Date.UTC(2024, 0, 1);
let current;

export class HostState {
  #now = START;
  #timers = new Map();
  #lastTimer = 0;
  #turning = false;
  #responses = [];
  #requests = [];
  /** The number of requests that make progress. The clock stands still while it is not 0. */
  #busy = 0;
  #listeners = 0;

  constructor() {
    current?.end(); // A failed test may not have ended its host.
    current = this;
    globalThis.setTimeout = (run, ms) => this.#schedule(run, ms, "client");
    globalThis.clearTimeout = (id) => this.#timers.delete(id);
    Date.now = () => this.#now;
    Math.random = () => 0;
  }

  /** Restores the real clock, `Math.random` and `fetch`. */
  end() {
    if (current !== this) return;
    current = undefined;
    this.#timers.clear();
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    globalThis.fetch = real.fetch;
    Date.now = real.now;
    Math.random = real.random;
  }

  /** Milliseconds since the initial time. */
  elapsed() {
    return this.#now - START;
  }

  /** The number of the client's active timers and abort listeners. */
  leakCount() {
    const timers = [...this.#timers.values()].filter(({ owner }) => owner === "client");
    return timers.length + this.#listeners;
  }

  #schedule(run, ms, owner = "test") {
    this.#lastTimer += 1;
    this.#timers.set(this.#lastTimer, { run, due: this.#now + ms, owner });
    this.#turn();
    return this.#lastTimer;
  }

  #turn() {
    if (this.#turning || this.#timers.size === 0) return;
    this.#turning = true;
    const { setTimeout } = real; // Browsers throw if `this` is not the window.
    setTimeout(() => {
      this.#turning = false;
      if (current === this && this.#busy === 0) this.#jump();
    }, 0);
  }

  #jump() {
    const [next] = [...this.#timers].sort(([a, { due: x }], [b, { due: y }]) => x - y || a - b);
    if (next === undefined) return;
    const [id, { run, due }] = next;
    this.#timers.delete(id);
    this.#now = Math.max(this.#now, due);
    run();
    this.#turn();
  }

  /** Resolves after `ms`, by a timer that belongs to the test. */
  sleep(ms) {
    return new Promise((resolve) => this.#schedule(resolve, ms));
  }

  /**
   * Returns a signal that aborts with `reason` after `ms`: immediately for 0, never for
   * `undefined`.
   */
  signal(ms, reason) {
    const controller = new AbortController();
    const { signal } = controller;
    for (const [method, step] of [
      ["addEventListener", 1],
      ["removeEventListener", -1],
    ]) {
      signal[method] = (...args) => {
        this.#listeners += step;
        AbortSignal.prototype[method].apply(signal, args);
      };
    }
    if (ms === 0) controller.abort(reason);
    else if (ms !== undefined) this.#schedule(() => controller.abort(reason), ms);
    return signal;
  }

  /**
   * Queues a response: `{ status, headers?, json? }`, with optional faults.
   *
   * - `stall: "head" | "body"`: stops before the head or within the body until the request is
   *   aborted
   * - `stream`: sends these chunks and stays open until the request is aborted. A number delays the next
   *   chunk by that many milliseconds
   * - `deaf`: with `stall`, ignores the abort
   * - `broken`: `fetch` rejects with a `TypeError` with this message
   * - `thrown`: `fetch` throws a `RangeError` with this message
   * - `nothing: { value }`: `fetch` returns `value` instead of a promise
   */
  enqueueResponse(json) {
    this.#responses.push(JSON.parse(json));
  }

  /** The received requests with their times. */
  requests() {
    return this.#requests.map(({ request }) => request);
  }

  /** The number of requests that are neither finished nor aborted. */
  pendingCount() {
    return this.#requests.filter(({ finished, signal }) => !finished && !signal.aborted).length;
  }

  /** Replaces the global `fetch` until the host ends. */
  replaceGlobalFetch() {
    globalThis.fetch = this.fetch;
  }

  get fetch() {
    return (request) => {
      if (this.#responses[0]?.nothing) return this.#responses.shift().nothing.value;
      if (this.#responses[0]?.thrown) throw new RangeError(this.#responses.shift().thrown);
      return this.#exchange(request);
    };
  }

  async #exchange(sent) {
    const { method, url, redirect, signal } = sent;
    const headers = Object.fromEntries(sent.headers);
    const request = { method, url, headers, redirect, body: null, at: this.elapsed() };
    const record = { request, signal, finished: false };
    const done = this.#begin();
    this.#requests.push(record);
    signal.addEventListener("abort", done);
    request.body = (await sent.text()) || null;

    const response = this.#responses.shift();
    const aborted = response?.deaf ? new Promise(() => {}) : rejectedBy(signal);
    if (response === undefined || response.broken) {
      record.finished = true;
      throw new TypeError(response?.broken ?? "the test expects no further request");
    }
    if (response.stall === "head") {
      done();
      return aborted;
    }
    return this.#respond(response, aborted, record, done);
  }

  #respond({ status, headers, json, stall, stream }, aborted, record, done) {
    const chunks = stall === "body" ? ['{"id":'] : stream;
    if (chunks !== undefined) {
      const start = async (body) => {
        aborted.catch((reason) => body.error(reason));
        for (const chunk of chunks) {
          if (typeof chunk === "string") body.enqueue(new TextEncoder().encode(chunk));
          else await new Promise((resolve) => this.#schedule(resolve, chunk));
        }
      };
      done();
      return new Response(new ReadableStream({ start }), { status, headers });
    }
    const response = new Response(JSON.stringify(json), { status, headers });
    const read = () => {
      record.finished = true;
      done();
    };
    response.text = () => {
      const reading = Response.prototype.text.call(response);
      reading.then(read, read);
      return reading;
    };
    return response;
  }

  /** Stops the clock until the returned function is called. */
  #begin() {
    this.#busy += 1;
    let finished = false;
    return () => {
      if (finished) return;
      finished = true;
      this.#busy -= 1;
      this.#turn();
    };
  }
}

function rejectedBy(signal) {
  const aborted = new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  });
  aborted.catch(() => {});
  return aborted;
}

/** Serializes a value to JSON with sorted properties. */
export function sortedJson(value) {
  return JSON.stringify(plain(value));
}

function plain(value) {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(plain);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, plain(value[name])]));
}
