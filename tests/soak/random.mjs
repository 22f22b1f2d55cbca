/** Reproducible random choices: with the same seed, clients do the same things. */

/** The Mulberry32 generator, which has 32 bits of state. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to below `end`. */
  below(end) {
    return Math.floor(this.next() * end);
  }

  pick(items) {
    return items[this.below(items.length)];
  }

  /** Picks a name with the probability of its weight. */
  pickWeighted(weights) {
    const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
    let remaining = this.next() * total;
    for (const [name, weight] of Object.entries(weights)) {
      remaining -= weight;
      if (remaining < 0) return name;
    }
    return Object.keys(weights)[0];
  }
}
