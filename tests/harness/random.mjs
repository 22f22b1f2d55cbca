/** Hashes integers to an unsigned 32-bit integer, similar to the finalizer of MurmurHash3. */
function mix(...numbers) {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number >>> 0), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** A sequence of pseudorandom choices. The same seed yields the same sequence. */
export class Random {
  #seed;
  #drawn = 0;

  constructor(seed) {
    this.#seed = seed;
  }

  next() {
    this.#drawn += 1;
    return mix(this.#seed, this.#drawn) / 2 ** 32;
  }

  below(end) {
    return Math.floor(this.next() * end);
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** Returns one item of a list, or the result of calling the item if it is a function. */
  pick(items) {
    const picked = items[this.below(items.length)];
    return typeof picked === "function" ? picked(this) : picked;
  }

  /** Picks a name with the probability of its weight. */
  pickWeighted(weights) {
    const names = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name));
    return this.pick(names);
  }
}
