import { computed, signal } from "@preact/signals";
import type { JobPage, ListedJob } from "quillgate";
import { describeProblem, type Problem } from "../shell/problem.ts";
import {
  ALL_JOBS,
  filterParams,
  isFiltered,
  type JobFilter,
  meetsFilter,
  sameFilter,
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

/** Whether the person waits for the outcome, and so is told when it fails. */
type Asked = "by the person" | "in passing";

/** Who looks for the jobs that are asked for: older gateways only list all of them. */
type FilteredBy = "gateway" | "page";

const JOBS_A_PAGE = 25;
/** The most that one request brings. */
const MAX_JOBS = 100;

/** The jobs that were started through the gateway, by whomever: the part of them that was asked for. */
export class ProjectJobs {
  readonly filter = signal<JobFilter>(ALL_JOBS);
  readonly filteredBy = signal<FilteredBy>("gateway");
  readonly #listing = signal<JobListing | null>(null);
  /** Null until there was an answer for the filter. */
  readonly listing = computed(() => {
    const listing = this.#listing.value;
    if (listing === null || this.filteredBy.value === "gateway") return listing;
    return { ...listing, jobs: listing.jobs.filter((job) => meetsFilter(job, this.filter.value)) };
  });
  /** How many jobs have been looked through, where this page does that. */
  readonly lookedThrough = computed(() => this.#listing.value?.jobs.length ?? 0);
  /** When the gateway last told of them. */
  readonly loadedAt = signal<number | null>(null);
  readonly busy = signal(false);
  readonly problem = signal<Problem | null>(null);
  /** Who has been seen to start jobs, whatever is listed now. */
  readonly authors = signal<ReadonlySet<string>>(new Set());
  readonly #api: JobsApi;
  readonly #ended: AbortSignal;
  readonly #onJobs: (jobs: readonly ListedJob[]) => void;
  /** What came since the page that is asked for was. */
  #news: JobUpdate[] = [];
  #isAsking = false;
  /** Whether changes of the shown jobs may be missing. */
  #isOutdated = false;
  #turns: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;

  /** `onJobs` is called with what the gateway tells of jobs. */
  constructor(
    api: JobsApi,
    ended: AbortSignal,
    onJobs: (jobs: readonly ListedJob[]) => void = () => {},
  ) {
    this.#api = api;
    this.#ended = ended;
    this.#onJobs = onJobs;
  }

  /** Asks for the newest jobs and the state of those that are shown. Says whether it succeeded. */
  refresh(asked: Asked = "in passing"): Promise<boolean> {
    // One that has not begun yet will see what this one would.
    if (asked === "in passing" && this.#waiting !== null) return this.#waiting;
    const turn = this.#inTurn(asked, () => {
      this.#waiting = null;
      return this.#renew();
    });
    this.#waiting = turn;
    return turn;
  }

  /** Loads the newest jobs again and drops those shown after them, whose changes may be missing. */
  reload(): Promise<boolean> {
    this.#isOutdated = true;
    return this.refresh();
  }

  /** Asks for the jobs after those that are shown. Says whether it succeeded. */
  showMore(): Promise<boolean> {
    return this.#inTurn("by the person", () => this.#goOn());
  }

  /** Lists other jobs. Says whether they could be had. */
  async setFilter(filter: JobFilter): Promise<boolean> {
    if (sameFilter(filter, this.filter.peek())) return true;
    this.filter.value = filter;
    if (this.filteredBy.peek() === "page") return true;
    this.#listing.value = null;
    this.problem.value = null;
    return this.refresh();
  }

  /** Takes in what a stream, or another call, tells of one job. */
  receive(event: JobUpdate): void {
    if (this.#isAsking) this.#news.push(event);
    if (event.job) this.#meet([event.job]);
    const listing = this.#listing.peek();
    if (listing === null) return;
    const applied = this.#apply(listing, event);
    this.#listing.value = applied.listing;
    if (applied.isOpen) this.refresh();
  }

  #apply(listing: JobListing, event: JobUpdate): AppliedEvent {
    const filter = this.filteredBy.peek() === "page" ? ALL_JOBS : this.filter.peek();
    return applyEvent(listing, event, filter);
  }

  /** A job as it was last listed. */
  find(id: string): ListedJob | undefined {
    return this.#listing.value?.jobs.find((job) => job.id === id);
  }

  /** Never two requests at once, of which the older answer could come last. */
  #inTurn(asked: Asked, work: () => Promise<void>): Promise<boolean> {
    const turn = this.#turns.then(() => this.#carryOut(asked, work));
    this.#turns = turn;
    return turn;
  }

  async #carryOut(asked: Asked, work: () => Promise<void>): Promise<boolean> {
    if (asked === "by the person") this.busy.value = true;
    try {
      await work();
      this.problem.value = null;
      return true;
    } catch (error) {
      // What nobody waits for may fail in silence, as long as there is something to see.
      const isNews = asked === "by the person" || this.#listing.peek() === null;
      if (isNews && !this.#ended.aborted) this.problem.value = describeProblem(error, Date.now());
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  async #renew(): Promise<void> {
    const count = Math.max(JOBS_A_PAGE, this.#listing.peek()?.jobs.length ?? 0);
    await this.#page({ limit: Math.min(MAX_JOBS, count) }, (page) => {
      const shown = this.#isOutdated ? null : this.#listing.peek();
      this.#isOutdated = false;
      return shown === null ? toListing(page) : renewListing(shown, page);
    });
  }

  async #goOn(): Promise<void> {
    const shown = this.#listing.peek();
    if (shown === null || shown.more === null) return;
    await this.#page({ limit: JOBS_A_PAGE, cursor: shown.more }, (page) =>
      extendListing(this.#listing.peek() ?? shown, page),
    );
  }

  /** Asks for a page, and takes it in unless other jobs are asked for by then. */
  async #page(params: JobListParams, combine: (page: JobPage) => JobListing): Promise<void> {
    this.#ended.throwIfAborted();
    const filter = this.filter.peek();
    this.#news = [];
    this.#isAsking = true;
    const page = await this.#request(params, filter).finally(() => {
      this.#isAsking = false;
    });
    if (this.filteredBy.peek() === "gateway" && !sameFilter(filter, this.filter.peek())) return;
    // What came in the meantime is newer than the page.
    const news = this.#news;
    const listing = news.reduce(
      (listing, event) => this.#apply(listing, event).listing,
      combine(page),
    );
    this.#listing.value = listing;
    this.loadedAt.value = Date.now();
    const overtaken = new Set(news.map(({ job, deleted }) => job?.id ?? deleted));
    this.#meet(page.jobs.filter(({ id }) => !overtaken.has(id)));
  }

  async #request(params: JobListParams, filter: JobFilter): Promise<JobPage> {
    const options = { signal: this.#ended };
    if (this.filteredBy.peek() === "page" || !isFiltered(filter)) {
      return this.#api.list(params, options);
    }
    try {
      return await this.#api.list({ ...params, ...filterParams(filter) }, options);
    } catch (error) {
      if (!isUnknownParameter(error)) throw error;
      this.filteredBy.value = "page";
      return this.#api.list(params, options);
    }
  }

  #meet(jobs: readonly ListedJob[]): void {
    const known = this.authors.peek();
    const authors = jobs.map(({ createdBy }) => createdBy).filter((author) => author !== null);
    if (authors.some((author) => !known.has(author)))
      this.authors.value = new Set([...known, ...authors]);
    this.#onJobs(jobs);
  }
}

/** Whether a gateway, or the package, refused a filter that it does not know. */
function isUnknownParameter(error: unknown): boolean {
  const { name, status } = error as { name?: string; status?: number };
  return name === "ValidationError" || name === "TypeError" || status === 400;
}
