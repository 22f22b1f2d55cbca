/**
 * A world of the tests' own: another side that answers as it is told, and a clock that
 * stands still while there is something to do and otherwise jumps to the next timer.
 * So waits are asserted, and none is slept through.
 */
const real = { setTimeout, clearTimeout, now: Date.now, random: Math.random, fetch };

/** When every world begins. */
const START = Date.UTC(2024, 0, 1);
let current;

export class HostState {
  #now = START;
  #timers = new Map();
  #lastTimer = 0;
  #turning = false;
  #answers = [];
  #requests = [];
  /** Exchanges that will come to an answer without any time passing. */
  #busy = 0;
  #listeners = 0;

  constructor() {
    current?.end(); // A test that failed has left its world behind.
    current = this;
    globalThis.setTimeout = (run, ms) => this.#schedule(run, ms, "theirs");
    globalThis.clearTimeout = (id) => this.#timers.delete(id);
    Date.now = () => this.#now;
    Math.random = () => 0;
  }

  /** Gives the host its own clock back. */
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

  // --- the clock -----------------------------------------------------------

  /** Milliseconds since the world began. */
  elapsed() {
    return this.#now - START;
  }

  /** Timers that nobody has cleared and listeners that nobody has taken off the signal. */
  leftBehind() {
    const timers = [...this.#timers.values()].filter(({ whose }) => whose === "theirs");
    return timers.length + this.#listeners;
  }

  #schedule(run, ms, whose = "the test's") {
    this.#lastTimer += 1;
    this.#timers.set(this.#lastTimer, { run, due: this.#now + ms, whose });
    this.#turn();
    return this.#lastTimer;
  }

  #turn() {
    if (this.#turning || this.#timers.size === 0) return;
    this.#turning = true;
    const { setTimeout } = real; // A browser's is no method of anything but the window.
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

  /** Resolves after `ms`, by a timer of the test's own. */
  sleep(ms) {
    return new Promise((resolve) => this.#schedule(resolve, ms));
  }

  // --- the signal ----------------------------------------------------------

  /** A signal that aborts with `reason` after `ms`: at once for 0, never for none. */
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

  // --- the other side ------------------------------------------------------

  /**
   * Queues an answer: `{ status, headers?, json? | text? }` and what goes wrong with it:
   * `stall: "head" | "body"` never goes on from there, `deaf` does so even when aborted,
   * `after` answers late, `broken` and `thrown` give an error instead, and `nothing: { value }`
   * something that is no response.
   */
  answer(json) {
    this.#answers.push(JSON.parse(json));
  }

  /** What was received, and when. */
  requests() {
    return this.#requests.map(({ request }) => request);
  }

  /** Requests that have neither come to their end nor been aborted. */
  running() {
    return this.#requests.filter(({ over, signal }) => !over && !signal.aborted).length;
  }

  /** Makes this host's `fetch` everybody's, until it ends. */
  replaceFetch() {
    globalThis.fetch = this.fetch;
  }

  get fetch() {
    return (request) => {
      if (this.#answers[0]?.nothing) return this.#answers.shift().nothing.value;
      if (this.#answers[0]?.thrown) throw new RangeError(this.#answers.shift().thrown);
      return this.#exchange(request);
    };
  }

  async #exchange(sent) {
    const { method, url, redirect, signal } = sent;
    const headers = Object.fromEntries(sent.headers);
    const request = { method, url, headers, redirect, body: null, at: this.elapsed() };
    const record = { request, signal, over: false };
    const done = this.#begin();
    this.#requests.push(record);
    signal.addEventListener("abort", done);
    request.body = (await sent.text()) || null;

    const answer = this.#answers.shift();
    const aborted = answer?.deaf ? new Promise(() => {}) : rejectedBy(signal);
    if (answer === undefined || answer.broken) {
      record.over = true;
      throw new TypeError(answer?.broken ?? "the test expects no further request");
    }
    if (answer.stall === "head") {
      done();
      return aborted;
    }
    if (answer.after === undefined) return this.#respond(answer, aborted, record, done);
    done();
    await Promise.race([new Promise((go) => this.#schedule(go, answer.after)), aborted]);
    return this.#respond(answer, aborted, record, this.#begin());
  }

  #respond({ status, headers, json, text, stall }, aborted, record, done) {
    if (stall === "body") {
      const start = (body) => {
        body.enqueue(new TextEncoder().encode('{"id":'));
        aborted.catch((reason) => body.error(reason));
      };
      done();
      return new Response(new ReadableStream({ start }), { status, headers });
    }
    const body = json === undefined ? text : JSON.stringify(json);
    const response = new Response(body, { status, headers });
    const read = () => {
      record.over = true;
      done();
    };
    for (const name of ["json", "text", "arrayBuffer", "bytes", "blob"]) {
      if (response[name] === undefined) continue;
      response[name] = () => {
        const reading = Response.prototype[name].call(response);
        reading.then(read, read);
        return reading;
      };
    }
    return response;
  }

  /** Time stands still from here until the returned function is called. */
  #begin() {
    this.#busy += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
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

/** A value as one text whose members are in order, headers and errors included. */
export function printed(value) {
  return JSON.stringify(plain(value));
}

function plain(value) {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (value instanceof Response) return `response ${value.status}, read ${value.bodyUsed}`;
  if (value instanceof Request) return `${value.method} ${value.url}`;
  if (value instanceof Headers) return plain(Object.fromEntries(value));
  if (value instanceof Error || value instanceof DOMException)
    return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return value.map(plain);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, plain(value[name])]));
}
