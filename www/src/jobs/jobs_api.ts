import type { AgentJob, JobListChange, JobPage, JobRecord, Operations } from "quillgate";
import type { OpenStream } from "../live/feed.ts";
import { listenToStreams } from "../live/stream_pulse.ts";
import type { Session } from "../session/session.ts";

export type JobListParams = NonNullable<Operations["agentJobs.list"]["params"]>;

export type GatewayState = "active" | "completed" | "failed" | "archived";

interface CallOptions {
  signal: AbortSignal;
}

/** The package's methods that read jobs. */
export interface JobsApi {
  list(params: JobListParams, options: CallOptions): PromiseLike<JobPage>;
  get(id: string, options: CallOptions): PromiseLike<AgentJob>;
  wait(id: string, options: CallOptions & { onUpdate(job: AgentJob): void }): PromiseLike<AgentJob>;
  record?(id: string, options: CallOptions): PromiseLike<JobRecord>;
}

/**
 * Returns a function that opens the stream of a project's jobs. The function notifies a listener of
 * each chunk and of the end.
 */
export function streamOf({ client, send }: Session): OpenStream<JobListChange> {
  return ({ signal, after, ...listener }) => {
    const observed = client.withOptions({ fetch: listenToStreams(listener, send) });
    return observed.agentJobs.watchAll({ after, signal });
  };
}
