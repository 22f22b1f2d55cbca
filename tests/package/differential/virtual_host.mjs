/**
 * A host whose clock stands still: it jumps to the next timer when nothing else is left to do. What
 * the package reads of the host (time, timers, random numbers, the console, `fetch`) is this one's
 * while it is installed.
 */
import { fraction, mix } from "./random.mjs";

const { setImmediate } = globalThis;
const RealDate = Date;
/** As Node.js: a timer that is longer fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Lets everything run that waits for no time: one turn empties the queues of promises. */
async function runPending() {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

export class VirtualHost {
  /** How many timers of the package have fired. */
  waits = 0;
  #seed;
  #start;
  #now;
  #timers = new Map();
  #numbered = 0;
  #keys = 0;
  #fetch;
  #restore = [];
  #record;
  /** Texts of the random bytes that were drawn. */
  #drawn = new Set();
  #names = new Map();

  /**
   * @param {object} options
   * @param {number} options.seed
   * @param {number} options.start the time at first, in milliseconds since 1970
   * @param {(event: object) => void} options.record
   * @param {typeof fetch} options.fetch
   */
  constructor({ seed, start, record, fetch }) {
    this.#seed = seed;
    this.#start = start;
    this.#now = start;
    this.#record = record;
    this.#fetch = fetch;
  }

  /** Milliseconds since the host began. */
  get elapsed() {
    return Math.round((this.#now - this.#start) * 1000) / 1000;
  }

  /** Runs `work` after `ms`; returns what takes it back. */
  after(ms, work) {
    return this.#addTimer(work, ms, false);
  }

  /** How many timers of the package have not fired yet. */
  get timersLeft() {
    return [...this.#timers.values()].filter(({ isPackage }) => isPackage).length;
  }

  #addTimer(work, ms, isPackage) {
    this.#numbered += 1;
    const id = this.#numbered;
    this.#timers.set(id, { due: this.#now + ms, work, isPackage });
    return () => this.#timers.delete(id);
  }

  /**
   * Lets time go by until `isOver` says so.
   *
   * @returns {Promise<boolean>} whether it did; `false` when nothing was left that could happen
   */
  async run(isOver, mostTimers) {
    for (let fired = 0; fired < mostTimers; fired++) {
      await runPending();
      if (isOver()) return true;
      if (!this.#fireNext()) return false;
    }
    return false;
  }

  #fireNext() {
    let next;
    for (const [id, timer] of this.#timers) {
      if (next === undefined || timer.due < next.due) next = { id, ...timer };
    }
    if (next === undefined) return false;
    this.#timers.delete(next.id);
    this.#now = Math.max(this.#now, next.due);
    this.#fire(next);
    return true;
  }

  #fire({ work, isPackage }) {
    if (!isPackage) {
      work();
      return;
    }
    this.waits += 1;
    try {
      work();
    } catch (error) {
      this.#record({ event: "a timer throws", given: [error] });
    }
  }

  /** A text in which random keys have the names that they got in the order of their appearance. */
  nameKeys(text) {
    return text.replace(/[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}/g, (key) => {
      if (!this.#drawn.has(key)) return key;
      if (!this.#names.has(key)) this.#names.set(key, `<random key ${this.#names.size + 1}>`);
      return this.#names.get(key);
    });
  }

  install() {
    const now = () => Math.floor(this.#now);
    const VirtualDate = class extends RealDate {
      constructor(...given) {
        if (given.length === 0) super(now());
        else super(...given);
      }
      static now() {
        return now();
      }
    };
    Object.defineProperty(VirtualDate, "name", { value: "Date" });
    this.#replace(globalThis, "Date", VirtualDate);
    this.#replace(performance, "now", () => this.#now - this.#start);
    // Of the moment and not of how many were drawn before, which nobody else can see.
    this.#replace(Math, "random", () => fraction(this.#seed, Math.round(this.elapsed * 1000)));
    this.#replace(crypto, "getRandomValues", (bytes) => this.#fill(bytes));
    this.#replace(crypto, "randomUUID", () => this.#makeUuid());
    this.#replace(globalThis, "setTimeout", (work, ms, ...given) => {
      const length = ms >= 1 && ms <= LONGEST_TIMER ? Math.trunc(ms) : 1;
      const cancel = this.#addTimer(() => work(...given), length, true);
      return { cancel, ref() {}, unref() {} };
    });
    this.#replace(globalThis, "clearTimeout", (timer) => timer?.cancel?.());
    this.#replace(AbortSignal, "timeout", (ms) => {
      const controller = new AbortController();
      const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
      // Node.js does not wait for such a timer before it ends.
      this.#addTimer(() => controller.abort(reason), ms, false);
      return controller.signal;
    });
    this.#replace(globalThis, "fetch", this.#fetch);
    for (const level of ["error", "warn", "info", "log", "debug"]) {
      this.#replace(console, level, (...given) =>
        this.#record({ event: `console ${level}`, given }),
      );
    }
  }

  restore() {
    for (const put of this.#restore.splice(0).reverse()) put();
  }

  #replace(target, name, value) {
    const own = Object.getOwnPropertyDescriptor(target, name);
    this.#restore.push(() => {
      if (own) Object.defineProperty(target, name, own);
      else delete target[name];
    });
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }

  #fill(view) {
    this.#keys += 1;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = mix(this.#seed, this.#keys, at) & 255;
    this.#drawn.add(Buffer.from(bytes).toString("hex"));
    return view;
  }

  #makeUuid() {
    const hex = Buffer.from(this.#fill(new Uint8Array(16))).toString("hex");
    const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
    this.#drawn.add(uuid);
    return uuid;
  }
}
