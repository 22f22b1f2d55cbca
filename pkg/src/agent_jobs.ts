/** The client's methods for agent jobs, their changes, and the gateway's records of them. */

import type { ApiPromise } from "./api_promise.js";
import type {
  JobChange,
  JobId,
  JobListChange,
  WaitOptions,
  WatchAllOptions,
  WatchOptions,
} from "./job_types.js";
import { List } from "./list.js";
import type { ListOptions, ListParams } from "./list_types.js";
import type { CreateOptions, RequestOptions, WriteOptions } from "./options.js";
import { streamList } from "./streams.js";
import type { Transport } from "./transport.js";
import type { AgentJob, CreatedJob, JobRecord, Operations } from "./types.js";
import { waitForResource, watchResource } from "./watch.js";
import type { Watched } from "./watched.js";

/** A list of jobs. Await it for one page, or iterate over it for every job. */
export interface JobList extends List<"agentJobs.list"> {}

const JOBS: Watched<"agentJobs.get", "job"> = {
  get: "agentJobs.get",
  name: "job",
  params: (id) => ({ id }),
  events: (id) => ({ operation: "agentJobs.events", parent: "agentJobs.get", params: { id } }),
  allEvents: { operation: "agentJobs.allEvents", parent: "agentJobs.list", params: {} },
};

/** Methods for agent jobs, which run in the background. */
export class AgentJobs {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a job, which runs in the background. Mintlify allows 100 jobs per project per hour.
   *
   * Requests to a gateway are retried, because it creates the job only once per idempotency key.
   * Requests sent directly to Mintlify are never retried: Mintlify could create a second job.
   *
   * @example
   * ```ts
   * const webhookUrl = "https://hooks.example/quillgate";
   * const job = await client.agentJobs.create({ prompt: "Document the new endpoint" }, { webhookUrl });
   * ```
   */
  create(
    params: Operations["agentJobs.create"]["params"],
    options?: CreateOptions,
  ): ApiPromise<CreatedJob> {
    return this.#transport.call("agentJobs.create", params, options);
  }

  /** Reads a job. */
  get(id: JobId, options?: RequestOptions): ApiPromise<AgentJob> {
    return this.#transport.call("agentJobs.get", { id }, options);
  }

  /**
   * Sends a follow-up message to a job, which resumes it. Mintlify allows 100 messages per project
   * per hour. As with {@link AgentJobs.create}, only requests to a gateway are retried.
   */
  sendMessage(id: JobId, params: { prompt: string }, options?: WriteOptions): ApiPromise<AgentJob> {
    return this.#transport.call("agentJobs.sendMessage", { ...params, id }, options);
  }

  /**
   * Lists the jobs created through the gateway, newest first. You can filter by `state`, by
   * `author`, and by `text` in the prompt.
   *
   * Await the list for one page, or iterate over it for every job of every page. It sends no
   * request before that. Mintlify has no such list, so a client with an `adminKey` throws a
   * `NotFoundError`.
   *
   * @example
   * ```ts
   * const { jobs, nextCursor } = await client.agentJobs.list({ limit: 10 });
   * for await (const job of client.agentJobs.list()) console.log(job.id, job.status);
   * const failed = await client.agentJobs.list({ state: "failed", text: "changelog" });
   * ```
   */
  list(params?: ListParams<"agentJobs.list">, options?: ListOptions): JobList {
    return new List(this.#transport, "agentJobs.list", params, options);
  }

  /**
   * Reads the gateway's record of a job: its prompt, follow-ups and status changes. Only jobs
   * created through the gateway have a record; other jobs throw a `NotFoundError`.
   *
   * @example
   * ```ts
   * const { job, prompt, messages, changes } = await client.agentJobs.record(id);
   * ```
   */
  record(id: JobId, options?: RequestOptions): ApiPromise<JobRecord> {
    return this.#transport.call("agentJobs.record", { id }, options);
  }

  /**
   * Deletes the gateway's record of a job. The job itself continues. The token needs the scope
   * `gateway:operate`.
   *
   * @example
   * ```ts
   * await client.agentJobs.deleteRecord(id);
   * ```
   */
  deleteRecord(id: JobId, options?: RequestOptions): ApiPromise<void> {
    return this.#transport.call("agentJobs.deleteRecord", { id }, options);
  }

  /**
   * Watches all jobs created through the gateway. Yields every job that is created, receives a
   * follow-up or changes, and the id of every job whose record is deleted.
   *
   * With the `revision` of a list as `after`, you miss no change between `list` and `watchAll`. It
   * reconnects when the stream ends. It throws permanent errors, the error of the fifth failed
   * attempt in a row, and the reason of an aborted signal. After a long interruption, it yields
   * `reset`: some changes are missing, so load the list again.
   *
   * @example
   * ```ts
   * const { jobs, revision } = await client.agentJobs.list();
   * const changes = client.agentJobs.watchAll({ after: revision, signal });
   * for await (const { job, deleted, reset } of changes) {
   *   if (job) console.log(job.id, job.status);
   *   else if (deleted) console.log(deleted, "is gone");
   *   else if (reset) await loadJobs(); // your function
   * }
   * ```
   */
  watchAll(options?: WatchAllOptions): AsyncGenerator<JobListChange, void, void> {
    return streamList(this.#transport, JOBS, options);
  }

  /**
   * Waits until a job is `completed`, `archived` or `failed`, and resolves to the job.
   *
   * A gateway streams the changes of a job. Without a stream, the client polls: the interval grows
   * from 2 s to 30 s, and a longer `Retry-After` extends it. The client tries a stream again after
   * a minute.
   *
   * @throws {JobWaitTimeoutError} if the job does not finish within `timeout`; its `job` is the
   *   last known state
   * @throws {DecodeError} if a response or an event of the stream is not a job
   */
  wait(id: JobId, options?: WaitOptions): Promise<AgentJob> {
    return waitForResource(this.#transport, JOBS, id, options);
  }

  /**
   * Watches a job. Yields its current state, then every change, and ends when the job finishes.
   *
   * @throws {JobWaitTimeoutError} if the job does not finish within `timeout`; its `job` is the
   *   last known state
   * @throws {DecodeError} if a response or an event of the stream is not a job
   */
  watch(id: JobId, options?: WatchOptions): AsyncGenerator<JobChange, void, void> {
    return watchResource(this.#transport, JOBS, id, options);
  }
}
