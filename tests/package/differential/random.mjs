/** Random numbers that a seed repeats. */

/** Mixes integers into one of 32 bits (the finaliser of MurmurHash3). */
export function mix(...numbers) {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number >>> 0), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** A number from 0 to 1 that follows from integers. */
export function fraction(...numbers) {
  return mix(...numbers) / 2 ** 32;
}

/** A sequence of random choices. */
export class Random {
  #seed;
  #drawn = 0;

  constructor(seed) {
    this.#seed = seed;
  }

  /** A number from 0 up to 1. */
  next() {
    this.#drawn += 1;
    return fraction(this.#seed, this.#drawn);
  }

  /** An integer from `least` to `most`. */
  integer(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** One of a list. A function in the list is called for its value. */
  pick(list) {
    const picked = list[this.integer(0, list.length - 1)];
    return typeof picked === "function" ? picked(this) : picked;
  }

  /** One of `[weight, value]` pairs. A function among the values is called for its value. */
  weigh(pairs) {
    const total = pairs.reduce((sum, [weight]) => sum + weight, 0);
    let at = this.next() * total;
    for (const [weight, value] of pairs) {
      at -= weight;
      if (at < 0) return typeof value === "function" ? value(this) : value;
    }
    return this.pick([pairs[0][1]]);
  }

  /** A length of time that equals no other by chance: of this order, with a fraction. */
  duration(least, most) {
    const length = least * (most / least) ** this.next();
    return Math.round(length) + this.integer(1, 998) / 1000;
  }

  /** As many of what `make` makes. */
  several(least, most, make) {
    return Array.from({ length: this.integer(least, most) }, (_, at) => make(this, at));
  }
}
