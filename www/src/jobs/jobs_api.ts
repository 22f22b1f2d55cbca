import type { AgentJob, JobListChange, JobPage, JobRecord, Operations } from "quillgate";

/** What a list of jobs is asked for. */
export type JobListParams = NonNullable<Operations["agentJobs.list"]["params"]>;

/** The states by which a gateway lists jobs. */
export type ListedState = "active" | "completed" | "failed" | "archived";

interface CallOptions {
  signal: AbortSignal;
}

/** The calls of the package that the routes of jobs read with; older gateways have not the last two. */
export interface JobsApi {
  list(params: JobListParams, options: CallOptions): PromiseLike<JobPage>;
  get(id: string, options: CallOptions): PromiseLike<AgentJob>;
  wait(id: string, options: CallOptions & { onUpdate(job: AgentJob): void }): PromiseLike<AgentJob>;
  watchAll?(options: CallOptions): AsyncIterable<JobListChange>;
  record?(id: string, options: CallOptions): PromiseLike<JobRecord>;
}
