import { computed, signal } from "@preact/signals";
import type { Client } from "quillgate";
import { Listing, type Source } from "./listing.ts";
import { address } from "./navigation.ts";
import { type DayRange, presetRange } from "./range.ts";

const RANGES_KEPT = 6;

/** The ranges looked at lately: going back to one costs no request of the hourly limit. */
export class ListingCache {
  readonly #kept = signal<readonly Listing[]>([]);
  readonly #client: Client;
  readonly #ended: AbortSignal;

  constructor(client: Client, ended: AbortSignal) {
    this.#client = client;
    this.#ended = ended;
  }

  /** The range that the page's address asks for; null until it is opened. */
  readonly current = computed(() => {
    const range = wantedRange();
    return this.#kept.value.find((rows) => sameRange(rows.range, range)) ?? null;
  });

  /** Opens the range of the address and stops fetching every other one. */
  open(): void {
    const current = this.current.peek();
    for (const rows of this.#kept.peek()) if (rows !== current) rows.stop();
    const isMissing = current?.state.peek() === "empty" && current.problem.peek() === null;
    if (current === null || isMissing) this.#put(wantedRange(), "kept rows");
  }

  /** Fetches the current range again, with what the platform has counted since. */
  refresh(): void {
    this.current.peek()?.stop();
    this.#put(wantedRange(), "the platform");
  }

  #put(range: DayRange, source: Source): void {
    const rows = new Listing(this.#client, range, this.#ended, source);
    const others = this.#kept.peek().filter((kept) => !sameRange(kept.range, range));
    this.#kept.value = [rows, ...others].slice(0, RANGES_KEPT);
    rows.load("first rows");
  }
}

/** The days of the address: a preset is counted back from today. */
export function wantedRange(): DayRange {
  const { range } = address.value;
  return typeof range === "string" ? presetRange(range, Date.now()) : range;
}

function sameRange(a: DayRange, b: DayRange): boolean {
  return a.from === b.from && a.to === b.to;
}
