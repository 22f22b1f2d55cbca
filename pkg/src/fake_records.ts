/** The common base of the fake gateway's jobs and deployments: ends by the clock, and changes. */

/** Settings of {@link FakeRecords}. */
export interface RecordSettings<Item> {
  /** Returns the current time, in milliseconds since 1970. */
  now: () => number;
  /** How long the work takes, in milliseconds. */
  duration: number;
  /** Returns the properties that change at the end. */
  finish: (item: Item) => Partial<Item>;
}

/** A stored job or deployment. */
export interface Stored<Item> {
  item: Item;
  /** When the current work started; `undefined` if it never ends on its own. */
  startedAt: number | undefined;
  changes: { at: string; item: Item }[];
  /** The number of the latest change in the project, from 1. */
  revision: number;
  isRecorded: boolean;
  checkedAt: string;
}

/** Stores jobs or deployments, and ends each after its duration. */
export abstract class FakeRecords<Item extends { status: string }> {
  /** The name of the events of streams, and of the resource. */
  abstract readonly name: "job" | "deployment";
  /** The property with the id in lists. */
  abstract readonly idName: "id" | "statusId";
  /** The statuses after which nothing changes. */
  protected abstract readonly final: readonly string[];
  protected readonly settings: RecordSettings<Item>;
  protected readonly stored = new Map<string, Stored<Item>>();
  /** The ids of deleted records, by the number of the change. */
  readonly deleted = new Map<number, string>();
  /** The number of the latest change. */
  revision = 0;
  /** Called after each change. */
  onChange: () => void = () => {};

  constructor(settings: RecordSettings<Item>) {
    this.settings = settings;
  }

  /** Returns an item as Mintlify does. */
  abstract get(id: string): object | undefined;
  protected abstract idOf(item: Item): string;
  /** Returns the item's row in the list. */
  protected abstract toRow(stored: Stored<Item>): object;

  /** All items, in the order in which they were added. */
  get all(): Item[] {
    this.settle();
    return [...this.stored.values()].map(({ item }) => ({ ...item }));
  }

  /** Ends every item whose duration has passed. */
  settle(): void {
    for (const stored of this.stored.values()) {
      const end = this.#endOf(stored);
      if (end !== undefined && end <= this.settings.now()) {
        this.apply(stored, this.settings.finish(stored.item), end);
      }
    }
  }

  /** Returns when the next item ends, in milliseconds since 1970; `Infinity` if none will. */
  get nextEnd(): number {
    const ends = [...this.stored.values()].map((stored) => this.#endOf(stored));
    return Math.min(...ends.filter((end) => end !== undefined));
  }

  #endOf({ startedAt, item }: Stored<Item>): number | undefined {
    if (startedAt === undefined || this.final.includes(item.status)) return undefined;
    return startedAt + this.settings.duration;
  }

  /** @throws {TypeError} if there is already an item with this id */
  protected add(item: Item, createdAt: string): Item {
    const id = this.idOf(item);
    if (this.stored.has(id)) throw new TypeError(`there is already a ${this.name} ${id}`);
    const now = this.settings.now();
    const first = { changes: [], revision: 0, isRecorded: true, checkedAt: createdAt };
    const stored: Stored<Item> = { item, startedAt: now, ...first };
    this.stored.set(id, stored);
    this.apply(stored, {}, now);
    return item;
  }

  protected findFreeId(): string {
    let number = this.stored.size + 1;
    while (this.stored.has(`${this.name}-${number}`)) number++;
    return `${this.name}-${number}`;
  }

  /**
   * Changes an item, which no longer ends on its own.
   *
   * @throws {TypeError} if there is no such item
   */
  update(id: string, change: Partial<Item>): Item {
    const stored = this.stored.get(id);
    if (stored === undefined) throw new TypeError(`there is no ${this.name} ${id}`);
    stored.startedAt = undefined;
    this.apply(stored, change, this.settings.now());
    return stored.item;
  }

  protected apply(stored: Stored<Item>, change: Partial<Item>, at: number): void {
    const time = new Date(at).toISOString();
    stored.item = { ...stored.item, ...change };
    stored.changes.push({ at: time, item: stored.item });
    stored.checkedAt = time;
    stored.revision = ++this.revision;
    this.onChange();
  }

  /** Returns an item with all its properties. */
  find(id: string): Item | undefined {
    return this.stored.get(id)?.item;
  }

  /** Returns the number of changes of an item. */
  countChanges(id: string): number {
    return this.stored.get(id)?.changes.length ?? 0;
  }

  /** Returns whether an item has ended. */
  isFinished(id: string): boolean {
    return this.final.includes(this.stored.get(id)?.item.status ?? "");
  }

  /** Returns the recorded items. The item added last comes first. */
  protected recorded(): Stored<Item>[] {
    return [...this.stored.values()].filter(({ isRecorded }) => isRecorded).reverse();
  }

  /** Lists the recorded items that changed after a revision, oldest change first. */
  changedAfter(revision: number): { row: object; revision: number }[] {
    const changed = this.recorded().filter((stored) => stored.revision > revision);
    changed.sort((one, other) => one.revision - other.revision);
    return changed.map((stored) => ({ row: this.toRow(stored), revision: stored.revision }));
  }

  /** Deletes the record of an item. Returns whether there was one. */
  deleteRecord(id: string): boolean {
    const stored = this.stored.get(id);
    if (!stored?.isRecorded) return false;
    stored.isRecorded = false;
    this.deleted.set(++this.revision, id);
    this.onChange();
    return true;
  }
}
