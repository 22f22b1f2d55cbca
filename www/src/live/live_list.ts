import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { currentTime } from "../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import {
  type AppliedEvent,
  type AppliedFilter,
  applyEvent,
  extendListing,
  type ItemKind,
  type ItemUpdate,
  type Listing,
  type ListPage,
  renewListing,
  toListing,
} from "./listing.ts";

/** The cause of a request. While items are listed, a failure in the background shows below them. */
type Trigger = "person" | "background";

const ITEMS_A_PAGE = 25;
/** The maximum number of items per request. */
const MAX_ITEMS = 100;
/** The maximum number of pages per search for matching items. */
const MAX_SEARCH_PAGES = 5;

export interface PageParams {
  limit: number;
  cursor?: string;
}

/** How to load, identify and filter the items of a list. */
export interface ListSource<Item, Filter> extends ItemKind<Item> {
  load(params: PageParams, filter: Filter, signal: AbortSignal): Promise<ListPage<Item>>;
  /** The filter that every item matches. */
  all: Filter;
  /** Returns whether the gateway can apply the whole filter. Otherwise, the page filters too. */
  isExact(filter: Filter): boolean;
  /** Returns the part of a filter that the gateway applies, as a key of requests. */
  requestKey(filter: Filter): string;
  meets(item: Item, filter: Filter): boolean;
  /** Returns the filter of events. */
  applied(filter: Filter): AppliedFilter<Item>;
}

/** The items of a project that match a filter, newest first. */
export class LiveList<Item, Filter = null> {
  readonly filter: Signal<Filter>;
  readonly #listing = signal<Listing<Item> | null>(null);
  /** The matching items; null until the first response. */
  readonly listing: ReadonlySignal<Listing<Item> | null>;
  /**
   * The number of items that the page searched; null if the gateway applies the whole filter, and
   * before the first response.
   */
  readonly searched: ReadonlySignal<number | null>;
  /** The time of the last response. */
  readonly loadedAt = signal<number | null>(null);
  /** The time of the last response, or of the last failure; 0 before that. */
  answeredAt = 0;
  /** Whether the latest request for the newest items succeeded. */
  isCurrent = false;
  /** Whether a request is running. */
  isRequesting = false;
  readonly busy = signal(false);
  /** The failure that takes the place of the items, or stands above them. */
  readonly problem = signal<Problem | null>(null);
  /** The failure of the latest request, even if it ran in the background. */
  readonly failure = signal<Problem | null>(null);
  readonly #source: ListSource<Item, Filter>;
  readonly #ended: AbortSignal;
  readonly #onItems: (items: readonly Item[]) => void;
  /** The revision of the list when it was last loaded; null before that. */
  revision: number | null = null;
  /** Events that arrived during the current request. */
  #news: ItemUpdate<Item>[] = [];
  /** Whether the list may lack changes to its items. */
  #isOutdated = false;
  #turns: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;

  /** Calls `onItems` with the items of each response and event. */
  constructor(
    source: ListSource<Item, Filter>,
    ended: AbortSignal,
    onItems: (items: readonly Item[]) => void = () => {},
  ) {
    this.#source = source;
    this.#ended = ended;
    this.#onItems = onItems;
    this.filter = signal(source.all);
    this.listing = computed(() => {
      const [listing, filter] = [this.#listing.value, this.filter.value];
      if (listing === null || source.isExact(filter)) return listing;
      return { ...listing, items: listing.items.filter((item) => source.meets(item, filter)) };
    });
    this.searched = computed(() => {
      const listing = this.#listing.value;
      return listing === null || source.isExact(this.filter.value) ? null : listing.items.length;
    });
  }

  /** Loads the newest items and updates the listed ones. Returns whether it succeeded. */
  refresh(trigger: Trigger = "background"): Promise<boolean> {
    // A queued refresh will include the same changes.
    if (trigger === "background" && this.#waiting !== null) return this.#waiting;
    const turn = this.#queue(trigger, () => {
      this.#waiting = null;
      this.isCurrent = false;
      return this.#renew();
    });
    this.#waiting = turn;
    return turn;
  }

  /** Loads the newest items and drops older ones, whose changes may be missing. */
  reload(): Promise<boolean> {
    this.#isOutdated = true;
    return this.refresh();
  }

  /** Loads the next items. Returns whether it succeeded. */
  showMore(): Promise<boolean> {
    return this.#queue("person", () => this.#search(this.#matches() + ITEMS_A_PAGE, "continue"));
  }

  /** Changes the filter. Returns whether the items could be loaded. */
  async setFilter(filter: Filter): Promise<boolean> {
    const before = this.filter.peek();
    if (JSON.stringify(filter) === JSON.stringify(before)) return true;
    this.filter.value = filter;
    this.problem.value = null;
    if (!this.#isSameRequest(filter, before)) this.#listing.value = null;
    return this.refresh();
  }

  /** Applies a change of one item. */
  receive(event: ItemUpdate<Item>): void {
    if (this.isRequesting) this.#news.push(event);
    if (event.deleted === undefined) this.#onItems([event.item]);
    const listing = this.#listing.peek();
    if (listing === null) return;
    const applied = this.#apply(listing, event);
    this.#listing.value = applied.listing;
    if (applied.isOpen) this.refresh();
  }

  #apply(listing: Listing<Item>, event: ItemUpdate<Item>): AppliedEvent<Item> {
    return applyEvent(this.#source, listing, event, this.#source.applied(this.filter.peek()));
  }

  find(id: string): Item | undefined {
    return this.#listing.value?.items.find((item) => this.idOf(item) === id);
  }

  idOf(item: Item): string {
    return this.#source.idOf(item);
  }

  /** Runs one request at a time, so that an older response cannot replace a newer one. */
  #queue(trigger: Trigger, work: () => Promise<void>): Promise<boolean> {
    const turn = this.#turns.then(() => this.#run(trigger, work));
    this.#turns = turn;
    return turn;
  }

  async #run(trigger: Trigger, work: () => Promise<void>): Promise<boolean> {
    if (trigger === "person") this.busy.value = true;
    try {
      await work();
      this.problem.value = null;
      this.failure.value = null;
      return true;
    } catch (error) {
      if (this.#ended.aborted) return false;
      const failure = describeProblem(error, currentTime());
      this.failure.value = failure;
      const isShown = trigger === "person" || this.#listing.peek() === null;
      if (isShown || failure.remedy === "reload") this.problem.value = failure;
      return false;
    } finally {
      this.answeredAt = currentTime();
      this.busy.value = false;
    }
  }

  async #renew(): Promise<void> {
    const count = Math.max(ITEMS_A_PAGE, this.#listing.peek()?.items.length ?? 0);
    const isExact = this.#source.isExact(this.filter.peek());
    const limit = isExact ? Math.min(MAX_ITEMS, count) : MAX_ITEMS;
    await this.#page({ limit }, (page) => {
      const shown = this.#isOutdated ? null : this.#listing.peek();
      this.#isOutdated = false;
      return shown === null ? toListing(page) : renewListing(this.#source, shown, page);
    });
    this.isCurrent = true;
    await this.#search(ITEMS_A_PAGE, "stop when found");
  }

  /**
   * Loads older items: pages until enough items match, but at most `MAX_SEARCH_PAGES`. A page can be
   * empty, because the gateway scans a limited number of items.
   */
  async #search(wanted: number, how: "continue" | "stop when found"): Promise<void> {
    const limit = this.#source.isExact(this.filter.peek()) ? ITEMS_A_PAGE : MAX_ITEMS;
    let isDone = how === "stop when found" && this.#matches() >= wanted;
    for (let pages = 0; !isDone && pages < MAX_SEARCH_PAGES; pages += 1) {
      const shown = this.#listing.peek();
      if (shown === null || shown.more === null) return;
      await this.#page({ limit, cursor: shown.more }, (page) =>
        extendListing(this.#source, this.#listing.peek() ?? shown, page),
      );
      isDone = this.#matches() >= wanted;
    }
  }

  #matches(): number {
    return this.listing.peek()?.items.length ?? 0;
  }

  /** Loads a page and applies it, unless the filter has changed meanwhile. */
  async #page(params: PageParams, combine: (page: ListPage<Item>) => Listing<Item>): Promise<void> {
    this.#ended.throwIfAborted();
    const filter = this.filter.peek();
    this.#news = [];
    this.isRequesting = true;
    const page = await this.#source.load(params, filter, this.#ended).finally(() => {
      this.isRequesting = false;
    });
    if (!this.#isSameRequest(filter, this.filter.peek())) return;
    // A later page is newer than the first items of the list.
    if (params.cursor === undefined) this.revision = page.revision;
    // Events that arrived during the request are newer than the page.
    const news = this.#news;
    const listing = news.reduce(
      (listing, event) => this.#apply(listing, event).listing,
      combine(page),
    );
    this.#listing.value = listing;
    this.loadedAt.value = currentTime();
    const overtaken = new Set(news.map(({ item, deleted }) => (item ? this.idOf(item) : deleted)));
    this.#onItems(page.items.filter((item) => !overtaken.has(this.idOf(item))));
  }

  #isSameRequest(one: Filter, other: Filter): boolean {
    return this.#source.requestKey(one) === this.#source.requestKey(other);
  }
}
