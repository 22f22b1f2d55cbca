/** What of a window is used, by whom: the sliding log of a budget, in memory. */

/** What one caller holds of a window. */
export interface Used {
  caller: string;
  count: number;
  /** The earliest instant of what it holds, in milliseconds since the Unix epoch. */
  oldest: number;
}

/** One caller's reservations under one policy. */
class Log {
  /** Those that are settled, in the order of time; what is before `first` has expired. */
  readonly #settled: number[] = [];
  #first = 0;
  /** Those under way, by id. */
  readonly flying = new Map<number, number>();

  settle(at: number): void {
    this.#settled.push(at);
  }

  /** Forgets what has left the window. */
  expire(since: number): void {
    while ((this.#settled[this.#first] ?? Number.POSITIVE_INFINITY) <= since) this.#first += 1;
    if (this.#first > 1000 && this.#first * 2 > this.#settled.length) {
      this.#settled.splice(0, this.#first);
      this.#first = 0;
    }
    for (const [id, at] of this.flying) if (at <= since) this.flying.delete(id);
  }

  get count(): number {
    return this.#settled.length - this.#first + this.flying.size;
  }

  get oldest(): number {
    return Math.min(
      this.#settled[this.#first] ?? Number.POSITIVE_INFINITY,
      ...this.flying.values(),
    );
  }
}

export class Usage {
  readonly #window: number;
  readonly #policies = new Map<string, Map<string, Log>>();
  /** The logs of those under way, by id. */
  readonly #flying = new Map<number, Log>();

  /** `window` is in milliseconds. */
  constructor(window: number) {
    this.#window = window;
  }

  /** Counts a reservation, as of the latest instant at which it may be settled. */
  begin(id: number, policy: string, caller: string, at: number): void {
    let callers = this.#policies.get(policy);
    if (!callers) {
      callers = new Map();
      this.#policies.set(policy, callers);
    }
    let log = callers.get(caller);
    if (!log) {
      log = new Log();
      callers.set(caller, log);
    }
    log.flying.set(id, at);
    this.#flying.set(id, log);
  }

  /** Counts it as of now, which is never before what was settled earlier. */
  settle(id: number, now: number): void {
    const log = this.#flying.get(id);
    if (!log) return;
    this.release(id);
    log.settle(now);
  }

  /** Counts it no more. */
  release(id: number): void {
    this.#flying.get(id)?.flying.delete(id);
    this.#flying.delete(id);
  }

  /** Everybody who holds something of a policy's window. */
  of(policy: string, now: number): Used[] {
    const used: Used[] = [];
    const callers = this.#policies.get(policy);
    for (const [caller, log] of callers ?? []) {
      log.expire(now - this.#window);
      const { count } = log;
      if (count === 0) callers?.delete(caller);
      else used.push({ caller, count, oldest: log.oldest });
    }
    return used;
  }
}
