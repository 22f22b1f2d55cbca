/** Types of watches: options, and changes of jobs. */

import type { RequestOptions } from "./options.js";
import type { AgentJob, ListedJob } from "./types.js";

/** Options of `watch`. */
export interface WatchOptions
  extends Omit<RequestOptions, "timeout" | "totalTimeout" | "maxRetries"> {
  /**
   * Maximum time to watch, in milliseconds: 1 to 2147483647.
   * @default 1800000 (30 minutes)
   */
  timeout?: number | undefined;
}

/** Options of `wait`, for a job or a deployment. */
export interface WaitOptions<Resource = AgentJob> extends WatchOptions {
  /**
   * Called with the job or the deployment when it is first read, and again after every change. Waits for
   * a returned promise, and rejects with its error.
   */
  onUpdate?: ((state: Resource) => void) | undefined;
}

/** A job after a change. */
export interface JobChange {
  job: AgentJob;
  /** Whether the job has finished. If `true`, this is the last change. */
  done: boolean;
}

/** A change to the project's list of jobs. Exactly one property is set. */
export type JobListChange =
  | {
      /** A job that was created, received a follow-up or changed, as the list now shows it. */
      job: ListedJob;
      deleted?: undefined;
      reset?: undefined;
    }
  | {
      /** The id of the job, if its record was deleted. */
      deleted: string;
      job?: undefined;
      reset?: undefined;
    }
  | {
      /** Some changes are missing, because the gateway no longer stores them. Load the list again. */
      reset: true;
      job?: undefined;
      deleted?: undefined;
    };

/** Options of `watchAll`. */
export interface WatchAllOptions
  extends Pick<RequestOptions, "signal" | "headers" | "fetchOptions"> {
  /**
   * The `revision` of a list: yields every change after it. Without it, the first changes are the most
   * recent ones.
   */
  after?: number | null | undefined;
}

/**
 * A job's id. The type allows `null` because Mintlify does not guarantee the field. Methods reject
 * `null` with a `ValidationError` before they send a request.
 */
export type JobId = AgentJob["id"];
