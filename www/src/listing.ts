import { signal } from "@preact/signals";
import type { Client, ListParams, Page, PageView, ViewTotals } from "quillgate";
import { describeProblem, type Problem } from "./problem.ts";
import { type Bounds, boundsOf, type DayRange } from "./range.ts";
import { type Limit, tightestLimit } from "./rate_limit.ts";
import { older, type Staleness, stalenessOf } from "./staleness.ts";

/** Whether rows that the gateway has kept will do, or the platform is to be asked. */
export type Source = "kept rows" | "the platform";

export type LoadState = "empty" | "loading" | "partial" | "complete";

/**
 * The page views of one range, fetched piece by piece and never asked for twice: whatever stops
 * the listing, the next call goes on from the row where it stopped.
 */
export class Listing {
  readonly key = crypto.randomUUID();
  readonly range: DayRange;
  readonly bounds: Bounds;
  readonly rows = signal<readonly PageView[]>([]);
  readonly totals = signal<ViewTotals | null>(null);
  readonly state = signal<LoadState>("empty");
  readonly requests = signal(0);
  readonly problem = signal<Problem | null>(null);
  /** Set when rows are older than they should be, because nothing newer was to be had. */
  readonly staleness = signal<Staleness | null>(null);
  /** What is left of the limit on requests, as the gateway last said. */
  readonly limit = signal<Limit | null>(null);
  readonly #client: Client;
  readonly #headers: Record<string, string>;
  readonly #ended: AbortSignal;
  #next: ListParams;
  #controller: AbortController | null = null;

  constructor(client: Client, range: DayRange, ended: AbortSignal, source: Source = "kept rows") {
    this.#client = client.withOptions({ onResponse: ({ headers }) => this.#note(headers) });
    this.#headers = source === "kept rows" ? {} : { "cache-control": "no-cache" };
    this.#ended = ended;
    this.range = range;
    this.bounds = boundsOf(range, Date.now());
    const { dateFrom, dateTo } = this.bounds;
    this.#next = { dateFrom, dateTo };
  }

  /** Fetches what is missing. Says whether it got as far as asked. */
  async load(goal: "first rows" | "all rows"): Promise<boolean> {
    if (this.state.peek() === "complete") return true;
    if (this.#controller !== null) return false;
    const controller = new AbortController();
    this.#controller = controller;
    const signal = AbortSignal.any([controller.signal, this.#ended]);
    this.state.value = "loading";
    this.problem.value = null;
    try {
      return await this.#fetch(goal, signal);
    } catch (error) {
      if (!signal.aborted) this.problem.value = describeProblem(error, Date.now());
      return false;
    } finally {
      if (this.#controller === controller) this.#rest();
    }
  }

  /** Stops fetching and keeps the rows that are here. */
  stop(): void {
    this.#controller?.abort();
    this.#rest();
  }

  async #fetch(goal: "first rows" | "all rows", signal: AbortSignal): Promise<boolean> {
    const options = { signal, headers: this.#headers };
    for await (const page of this.#client.analytics.views(this.#next, options).pages()) {
      signal.throwIfAborted();
      this.#take(page);
      if (goal === "first rows") return true;
    }
    return true;
  }

  #note(headers: Headers): void {
    const now = Date.now();
    this.limit.value = tightestLimit(headers, now) ?? this.limit.peek();
    this.staleness.value = older(this.staleness.peek(), stalenessOf(headers, now));
  }

  #take(page: Page): void {
    this.rows.value = [...this.rows.peek(), ...page.views];
    this.totals.value = page.totals;
    this.requests.value += 1;
    if (page.cursor === null) this.state.value = "complete";
    else this.#next = { cursor: page.cursor };
  }

  #rest(): void {
    this.#controller = null;
    if (this.state.peek() !== "loading") return;
    this.state.value = this.requests.peek() === 0 ? "empty" : "partial";
  }
}
