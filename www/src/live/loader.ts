/** Runs a load, one at a time. A call during a load starts another one afterwards. */
export class Loader {
  readonly #work: () => Promise<void>;
  #turn: Promise<void> | null = null;
  #isDue = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  load(): Promise<void> {
    if (this.#turn !== null) {
      this.#isDue = true;
      return this.#turn;
    }
    this.#turn = this.#work().finally(() => {
      this.#turn = null;
      if (!this.#isDue) return;
      this.#isDue = false;
      return this.load();
    });
    return this.#turn;
  }
}
