/** What an isolate remembers: the latest answers, up to a number of bytes. */

/** A quarter of what an isolate may use at most is far more. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Kept<T> {
  value: T;
  bytes: number;
  /** In milliseconds since the Unix epoch. */
  until: number;
}

export class Memory<T> {
  readonly #kept = new Map<string, Kept<T>>();
  #bytes = 0;

  /** What was kept under a name and is still good. */
  get(name: string, now: number): T | undefined {
    const kept = this.#kept.get(name);
    if (!kept) return undefined;
    if (now < kept.until) return kept.value;
    this.#drop(name, kept);
    return undefined;
  }

  /** Keeps a value; the oldest make room. */
  set(name: string, value: T, { bytes, until }: { bytes: number; until: number }): void {
    const earlier = this.#kept.get(name);
    if (earlier) this.#drop(name, earlier);
    this.#kept.set(name, { value, bytes, until });
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= MOST_BYTES) return;
      this.#drop(oldest, kept);
    }
  }

  #drop(name: string, { bytes }: Kept<T>): void {
    this.#kept.delete(name);
    this.#bytes -= bytes;
  }
}
