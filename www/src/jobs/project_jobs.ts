import { type ReadonlySignal, signal } from "@preact/signals";
import type { ListedJob } from "quillgate";
import type { AppliedFilter, ItemKind } from "../live/listing.ts";
import { LiveList } from "../live/live_list.ts";
import {
  ALL_JOBS,
  filterParams,
  isExact,
  isFiltered,
  type JobFilter,
  meetsStateAndAuthor,
} from "./job_filter.ts";
import type { JobsApi } from "./jobs_api.ts";

export const JOB_KIND: ItemKind<ListedJob> = {
  idOf: ({ id }) => id,
  createdAtOf: ({ createdAt }) => createdAt,
};

/** Returns the filter of events. */
export function appliedFilter(filter: JobFilter): AppliedFilter<ListedJob> {
  return {
    meets: (job) => meetsStateAndAuthor(job, filter),
    isFiltered: isFiltered(filter),
    isSearch: filter.text.trim() !== "",
  };
}

/** The jobs of a project that match a filter, newest first. */
export class ProjectJobs extends LiveList<ListedJob, JobFilter> {
  /** All authors seen so far, regardless of the filter. */
  readonly authors: ReadonlySignal<ReadonlySet<string>>;

  constructor(
    api: JobsApi,
    ended: AbortSignal,
    onJobs: (jobs: readonly ListedJob[]) => void = () => {},
  ) {
    const authors = signal<ReadonlySet<string>>(new Set());
    super(
      {
        ...JOB_KIND,
        load: async (params, filter, signal) => {
          const page = await api.list({ ...params, ...filterParams(filter) }, { signal });
          return { items: page.jobs, nextCursor: page.nextCursor, revision: page.revision };
        },
        all: ALL_JOBS,
        isExact,
        requestKey: (filter) => JSON.stringify(filterParams(filter)),
        meets: meetsStateAndAuthor,
        applied: (filter) =>
          appliedFilter(isExact(filter) ? filter : { ...ALL_JOBS, text: filter.text }),
      },
      ended,
      (jobs) => {
        const known = authors.peek();
        const named = jobs.map(({ createdBy }) => createdBy).filter((author) => author !== null);
        if (named.some((author) => !known.has(author))) {
          authors.value = new Set([...known, ...named]);
        }
        onJobs(jobs);
      },
    );
    this.authors = authors;
  }
}
