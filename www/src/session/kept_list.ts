import { signal } from "@preact/signals";
import type { Applied, Entry, Kind, PersonData } from "./person_data.ts";

/** One item, with its storage entry and the time that determines its place in the list. */
export interface Kept<Item> {
  entry: Entry;
  /** In milliseconds since the epoch. */
  at: number;
  item: Item;
}

/**
 * A person's items of one kind. Each one has its own storage entry, so that changing, deleting and
 * restoring an item touches no other item, in this tab or another.
 */
export class KeptList<Item> {
  /** The items, oldest first. */
  readonly all = signal<readonly Kept<Item>[]>([]);
  readonly #data: PersonData;
  readonly #place: [Kind, ...string[]];
  readonly #parse: (value: unknown) => Item | null;

  /** @param parse returns null for a value to ignore */
  constructor(
    data: PersonData,
    place: [Kind, ...string[]],
    parse: (value: unknown) => Item | null,
    ended: AbortSignal,
  ) {
    this.#data = data;
    this.#place = place;
    this.#parse = parse;
    for (const entry of data.entries(...place)) this.#renew(entry);
    data.onChangeElsewhere(place, (entry) => this.#renew(entry), ended);
  }

  find(id: string): Kept<Item> | null {
    const { key } = this.#data.entry(...this.#place, id);
    return this.all.value.find(({ entry }) => entry.key === key) ?? null;
  }

  /** Like `find`, with the changes of other tabs that this tab has not been notified of yet. */
  read(id: string): Kept<Item> | null {
    this.#renew(this.#data.entry(...this.#place, id));
    return this.find(id);
  }

  /** Adds an item at the end of the list, or moves the one with the same id there. */
  put(id: string, item: Item): Applied {
    // Items that are added in the same millisecond keep their order.
    const at = Math.max(Date.now(), (this.all.peek().at(-1)?.at ?? 0) + 1);
    return this.restore({ entry: this.#data.entry(...this.#place, id), at, item });
  }

  /** Puts a removed or changed item in its place. */
  restore(kept: Kept<Item>): Applied {
    const { entry, at, item } = kept;
    this.#show(entry, kept);
    return entry.write({ at, item });
  }

  remove({ entry }: Kept<Item>): void {
    entry.remove();
    this.#show(entry, null);
  }

  #renew(entry: Entry): void {
    const { at, item } = Object(entry.read()) as { at?: unknown; item?: unknown };
    const parsed = typeof at === "number" ? this.#parse(item) : null;
    this.#show(entry, parsed === null ? null : { entry, at: Number(at), item: parsed });
  }

  #show({ key }: Entry, kept: Kept<Item> | null): void {
    const others = this.all.peek().filter(({ entry }) => entry.key !== key);
    const all = kept === null ? others : [...others, kept];
    this.all.value = all.sort((one, other) => one.at - other.at);
  }
}
