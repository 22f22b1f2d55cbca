/** Reproducible random choices: the same seed makes the same clients do the same things. */

/** Mulberry32: 32 bits of state, one number per call. */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, and without, 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, and without, `end`. */
  below(end) {
    return Math.floor(this.next() * end);
  }

  /** @template T @param {readonly T[]} items @returns {T} */
  pick(items) {
    return items[this.below(items.length)];
  }

  /** One of the names, each as likely as its weight says. @param {Record<string, number>} weights */
  pickWeighted(weights) {
    const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
    let at = this.next() * total;
    for (const [name, weight] of Object.entries(weights)) {
      at -= weight;
      if (at < 0) return name;
    }
    return Object.keys(weights)[0];
  }
}
