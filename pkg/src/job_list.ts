/** The list of a project's jobs: a page, or every job of it. */

import { ApiPromise, type Carried } from "./api_promise.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { JobPage, ListedJob, Operations } from "./types.js";

type Params = Operations["agentJobs.list"]["params"];

/** A list of jobs: a promise of one page, and an iterable of every job from there on. */
export class JobList extends ApiPromise<JobPage> implements AsyncIterable<ListedJob> {
  readonly #page: (cursor: string) => Promise<Carried<JobPage>>;

  /** @internal */
  constructor(transport: Transport, params: Params, options: RequestOptions, site: Error) {
    super(transport.carry("agentJobs.list", params, options, site));
    this.#page = (cursor) =>
      transport.carry("agentJobs.list", { ...params, cursor }, options, site);
  }

  /** Every job from this page on, each page asked for when the one before has been gone through. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ListedJob, void, void> {
    for (let page: JobPage = await this; ; page = (await this.#page(page.nextCursor)).data) {
      yield* page.jobs;
      if (page.nextCursor === null) return;
    }
  }
}
