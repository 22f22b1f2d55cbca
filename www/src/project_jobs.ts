import { signal } from "@preact/signals";
import type { Client, JobPage, ListedJob } from "quillgate";
import { describeProblem, type Problem } from "./problem.ts";

/** Jobs as listed, newest first, and where the list goes on. */
export interface JobListing {
  jobs: readonly ListedJob[];
  /** Null after the last job. */
  more: string | null;
}

/** Whether the person waits for the outcome, and so is told when it fails. */
type Asked = "by the person" | "in passing";

const JOBS_A_PAGE = 10;
/** The most that one request brings. */
const MOST_JOBS = 100;

/** The jobs that were started through the gateway, by whomever: the part of them that was asked for. */
export class ProjectJobs {
  /** Null until there was an answer. */
  readonly listing = signal<JobListing | null>(null);
  /** When the gateway last told of them. */
  readonly loadedAt = signal<number | null>(null);
  readonly busy = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly #client: Client;
  readonly #ended: AbortSignal;
  #turns: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;

  constructor(client: Client, ended: AbortSignal) {
    this.#client = client;
    this.#ended = ended;
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

  /** Asks for the jobs after those that are shown. Says whether it succeeded. */
  showMore(): Promise<boolean> {
    return this.#inTurn("by the person", () => this.#goOn());
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
      const isNews = asked === "by the person" || this.listing.peek() === null;
      if (isNews && !this.#ended.aborted) this.problem.value = describeProblem(error, Date.now());
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  async #renew(): Promise<void> {
    const shown = this.listing.peek();
    const count = Math.max(JOBS_A_PAGE, shown?.jobs.length ?? 0);
    const page = await this.#page({ limit: Math.min(MOST_JOBS, count) });
    this.#take(shown === null ? listingOf(page) : renewed(shown, page));
  }

  async #goOn(): Promise<void> {
    const shown = this.listing.peek();
    if (shown === null || shown.more === null) return;
    const page = await this.#page({ limit: JOBS_A_PAGE, cursor: shown.more });
    this.#take({ jobs: [...shown.jobs, ...page.jobs], more: page.nextCursor });
  }

  #page(params: { limit: number; cursor?: string }): Promise<JobPage> {
    this.#ended.throwIfAborted();
    return this.#client.agentJobs.list(params, { signal: this.#ended }).then((page) => page);
  }

  #take(listing: JobListing): void {
    this.listing.value = listing;
    this.loadedAt.value = Date.now();
  }
}

function listingOf({ jobs, nextCursor }: JobPage): JobListing {
  return { jobs, more: nextCursor };
}

/** What is shown, with the newest page in the place of what it renews. */
export function renewed(shown: JobListing, page: JobPage): JobListing {
  const ids = new Set(page.jobs.map(({ id }) => id));
  const last = shown.jobs.findLastIndex(({ id }) => ids.has(id));
  const older = shown.jobs.slice(last + 1);
  // Without a job in both there may be others between them.
  if (last === -1 || older.length === 0 || page.nextCursor === null) return listingOf(page);
  return { jobs: [...page.jobs, ...older], more: shown.more };
}
