import { computed, signal } from "@preact/signals";
import type { JobPage, ListedJob } from "quillgate";
import { currentTime } from "../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import {
  ALL_JOBS,
  filterParams,
  isExact,
  type JobFilter,
  meetsStateAndAuthor,
} from "./job_filter.ts";
import {
  type AppliedEvent,
  applyEvent,
  extendListing,
  type JobListing,
  type JobUpdate,
  renewListing,
  toListing,
} from "./job_listing.ts";
import type { JobListParams, JobsApi } from "./jobs_api.ts";

/** The cause of a request. While jobs are listed, a failure in the background shows below them. */
type Trigger = "person" | "background";

const JOBS_A_PAGE = 25;
/** The maximum number of jobs per request. */
const MAX_JOBS = 100;
/** The maximum number of pages per search for matching jobs. */
const MAX_SEARCH_PAGES = 5;

/** The jobs of a project that match a filter, newest first. */
export class ProjectJobs {
  readonly filter = signal<JobFilter>(ALL_JOBS);
  readonly #listing = signal<JobListing | null>(null);
  /** The matching jobs; null until the first response. */
  readonly listing = computed(() => {
    const [listing, filter] = [this.#listing.value, this.filter.value];
    if (listing === null || isExact(filter)) return listing;
    return { ...listing, jobs: listing.jobs.filter((job) => meetsStateAndAuthor(job, filter)) };
  });
  /**
   * The number of jobs that the page searched; null if the gateway applies the whole filter, and
   * before the first response.
   */
  readonly searched = computed(() => {
    const listing = this.#listing.value;
    return listing === null || isExact(this.filter.value) ? null : listing.jobs.length;
  });
  /** The time of the last response. */
  readonly loadedAt = signal<number | null>(null);
  readonly busy = signal(false);
  /** The failure that takes the place of the jobs, or stands above them. */
  readonly problem = signal<Problem | null>(null);
  /** The failure of the latest request, even if it ran in the background. */
  readonly failure = signal<Problem | null>(null);
  /** All authors seen so far, regardless of the filter. */
  readonly authors = signal<ReadonlySet<string>>(new Set());
  readonly #api: JobsApi;
  readonly #ended: AbortSignal;
  readonly #onJobs: (jobs: readonly ListedJob[]) => void;
  /** The revision of the list when it was last loaded; null before that. */
  revision: number | null = null;
  /** Events that arrived during the current request. */
  #news: JobUpdate[] = [];
  #isRequesting = false;
  /** Whether the list may lack changes to its jobs. */
  #isOutdated = false;
  #turns: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;

  /** Calls `onJobs` with the jobs of each response and event. */
  constructor(
    api: JobsApi,
    ended: AbortSignal,
    onJobs: (jobs: readonly ListedJob[]) => void = () => {},
  ) {
    this.#api = api;
    this.#ended = ended;
    this.#onJobs = onJobs;
  }

  /** Loads the newest jobs and updates the listed ones. Returns whether it succeeded. */
  refresh(trigger: Trigger = "background"): Promise<boolean> {
    // A queued refresh will include the same changes.
    if (trigger === "background" && this.#waiting !== null) return this.#waiting;
    const turn = this.#queue(trigger, () => {
      this.#waiting = null;
      return this.#renew();
    });
    this.#waiting = turn;
    return turn;
  }

  /** Loads the newest jobs and drops older ones, whose changes may be missing. */
  reload(): Promise<boolean> {
    this.#isOutdated = true;
    return this.refresh();
  }

  /** Loads the next jobs. Returns whether it succeeded. */
  showMore(): Promise<boolean> {
    return this.#queue("person", () => this.#search(this.#matches() + JOBS_A_PAGE, "continue"));
  }

  /** Changes the filter. Returns whether the jobs could be loaded. */
  async setFilter(filter: JobFilter): Promise<boolean> {
    const before = this.filter.peek();
    if (JSON.stringify(filter) === JSON.stringify(before)) return true;
    this.filter.value = filter;
    this.problem.value = null;
    if (!isSameRequest(filter, before)) this.#listing.value = null;
    return this.refresh();
  }

  /** Applies a change of one job. */
  receive(event: JobUpdate): void {
    if (this.#isRequesting) this.#news.push(event);
    if (event.job) this.#meet([event.job]);
    const listing = this.#listing.peek();
    if (listing === null) return;
    const applied = this.#apply(listing, event);
    this.#listing.value = applied.listing;
    if (applied.isOpen) this.refresh();
  }

  #apply(listing: JobListing, event: JobUpdate): AppliedEvent {
    const filter = this.filter.peek();
    const applied = isExact(filter) ? filter : { ...ALL_JOBS, text: filter.text };
    return applyEvent(listing, event, applied);
  }

  find(id: string): ListedJob | undefined {
    return this.#listing.value?.jobs.find((job) => job.id === id);
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
      this.busy.value = false;
    }
  }

  async #renew(): Promise<void> {
    const count = Math.max(JOBS_A_PAGE, this.#listing.peek()?.jobs.length ?? 0);
    const limit = isExact(this.filter.peek()) ? Math.min(MAX_JOBS, count) : MAX_JOBS;
    await this.#page({ limit }, (page) => {
      const shown = this.#isOutdated ? null : this.#listing.peek();
      this.#isOutdated = false;
      return shown === null ? toListing(page) : renewListing(shown, page);
    });
    await this.#search(JOBS_A_PAGE, "stop when found");
  }

  /**
   * Loads older jobs: pages until enough jobs match, but at most `MAX_SEARCH_PAGES`. A page can be
   * empty, because the gateway scans a limited number of jobs.
   */
  async #search(wanted: number, how: "continue" | "stop when found"): Promise<void> {
    const limit = isExact(this.filter.peek()) ? JOBS_A_PAGE : MAX_JOBS;
    let isDone = how === "stop when found" && this.#matches() >= wanted;
    for (let pages = 0; !isDone && pages < MAX_SEARCH_PAGES; pages += 1) {
      const shown = this.#listing.peek();
      if (shown === null || shown.more === null) return;
      await this.#page({ limit, cursor: shown.more }, (page) =>
        extendListing(this.#listing.peek() ?? shown, page),
      );
      isDone = this.#matches() >= wanted;
    }
  }

  #matches(): number {
    return this.listing.peek()?.jobs.length ?? 0;
  }

  /** Loads a page and applies it, unless the filter has changed meanwhile. */
  async #page(params: JobListParams, combine: (page: JobPage) => JobListing): Promise<void> {
    this.#ended.throwIfAborted();
    const filter = this.filter.peek();
    this.#news = [];
    this.#isRequesting = true;
    const options = { signal: this.#ended };
    const request = this.#api.list({ ...params, ...filterParams(filter) }, options);
    const page = await Promise.resolve(request).finally(() => {
      this.#isRequesting = false;
    });
    if (!isSameRequest(filter, this.filter.peek())) return;
    // A later page is newer than the first jobs of the list.
    if (params.cursor === undefined) this.revision = page.revision;
    // Events that arrived during the request are newer than the page.
    const news = this.#news;
    const listing = news.reduce(
      (listing, event) => this.#apply(listing, event).listing,
      combine(page),
    );
    this.#listing.value = listing;
    this.loadedAt.value = currentTime();
    const overtaken = new Set(news.map(({ job, deleted }) => job?.id ?? deleted));
    this.#meet(page.jobs.filter(({ id }) => !overtaken.has(id)));
  }

  #meet(jobs: readonly ListedJob[]): void {
    const known = this.authors.peek();
    const authors = jobs.map(({ createdBy }) => createdBy).filter((author) => author !== null);
    if (authors.some((author) => !known.has(author)))
      this.authors.value = new Set([...known, ...authors]);
    this.#onJobs(jobs);
  }
}

function isSameRequest(one: JobFilter, other: JobFilter): boolean {
  return JSON.stringify(filterParams(one)) === JSON.stringify(filterParams(other));
}
