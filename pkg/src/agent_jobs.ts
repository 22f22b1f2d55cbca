/** Agent jobs: create, read, list, send follow-ups, watch and wait. */

import type { ApiPromise } from "./api_promise.js";
import { captureCallSite, locate } from "./errors.js";
import { follow, sleep } from "./exchange.js";
import { MODE_WATCH } from "./generated/protocol.js";
import { refuseUnknown } from "./known.js";
import { List, type ListOptions, type ListParams } from "./list.js";
import type { RequestOptions, WriteOptions } from "./options.js";
import { Task } from "./task.js";
import type { Transport } from "./transport.js";
import type { AgentJob, JobRecord, ListedJob, Operations } from "./types.js";

/** Options of {@link AgentJobs.watch}. */
export interface WatchOptions
  extends Omit<RequestOptions, "timeout" | "totalTimeout" | "maxRetries"> {
  /**
   * Maximum time to watch, in milliseconds: 1 to 2147483647.
   * @default 1800000 (30 minutes)
   */
  timeout?: number | undefined;
}

/** Options of {@link AgentJobs.wait}. */
export interface WaitOptions extends WatchOptions {
  /** Called with the job when it is first read, and again after every change. */
  onUpdate?: ((job: AgentJob) => void) | undefined;
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

/** Options of {@link AgentJobs.watchAll}. */
export type WatchAllOptions = Pick<RequestOptions, "signal" | "headers">;

/**
 * A job's id. The type allows `null` because Mintlify does not guarantee the field. Methods reject
 * `null` with a `ValidationError` before they send a request.
 */
export type JobId = AgentJob["id"];

/** A list of jobs. Await it for one page, or iterate over it for every job. */
export interface JobList extends List<"agentJobs.list"> {}

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
   */
  create(
    params: Operations["agentJobs.create"]["params"],
    options?: WriteOptions,
  ): ApiPromise<AgentJob> {
    return this.#transport.write("agentJobs.create", params, options);
  }

  /** Reads a job. */
  get(id: JobId, options?: RequestOptions): ApiPromise<AgentJob> {
    return this.#transport.call("agentJobs.get", { id }, options);
  }

  /**
   * Sends a follow-up message to a job, which starts working again. Mintlify allows 100 messages
   * per project per hour. As with {@link AgentJobs.create}, only requests to a gateway are retried.
   */
  sendMessage(id: JobId, params: { prompt: string }, options?: WriteOptions): ApiPromise<AgentJob> {
    return this.#transport.write("agentJobs.sendMessage", { ...params, id }, options);
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
  list(params: ListParams<"agentJobs.list"> = {}, options: ListOptions = {}): JobList {
    return new List(this.#transport, "agentJobs.list", params, options, captureCallSite());
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
   * The first jobs it yields are those that changed most recently, so you miss no change between
   * `list` and `watchAll`. It reconnects when the stream ends. It stops when you leave the loop,
   * when you abort the signal, or on a permanent error. After a long interruption it yields `reset`:
   * some changes are missing, so load the list again.
   *
   * @example
   * ```ts
   * for await (const { job, deleted, reset } of client.agentJobs.watchAll({ signal })) {
   *   if (job) console.log(job.id, job.status);
   *   else if (deleted) console.log(deleted, "is gone");
   *   else if (reset) await loadJobs(); // your function
   * }
   * ```
   */
  watchAll(options?: WatchAllOptions): AsyncGenerator<JobListChange, void, void>;
  // A default value captures the line of the call. The body runs later, on the first iteration.
  async *watchAll(options = {}, site = captureCallSite()): AsyncGenerator<JobListChange> {
    yield* (await load()).streamList(this.#transport, options, site, TOOLS);
  }

  /**
   * Waits until a job is `completed`, `archived` or `failed`, and resolves to the job.
   *
   * A gateway streams the changes of a job. Without a stream, the client polls: first after 2 s,
   * then at growing intervals of up to 30 s, or as `Retry-After` requests.
   *
   * @throws {JobWaitTimeoutError} if the job does not finish within `timeout`; its `job` is the
   *   last known state
   */
  async wait(id: JobId, options: WaitOptions = {}): Promise<AgentJob> {
    const { onUpdate, ...watching } = options;
    // A watch that succeeds yields at least one job, and the last one is finished.
    let last!: AgentJob;
    for await ({ job: last } of this.#changes(id, watching, captureCallSite())) onUpdate?.(last);
    return last;
  }

  /**
   * Watches a job. Yields its current state, then every change, and ends when the job finishes.
   *
   * @throws {JobWaitTimeoutError} if the job does not finish within `timeout`; its `job` is the
   *   last known state
   */
  watch(id: JobId, options: WatchOptions = {}): AsyncGenerator<JobChange, void, void> {
    return this.#changes(id, options, captureCallSite());
  }

  async *#changes(
    id: JobId,
    options: WatchOptions,
    site: Error,
  ): AsyncGenerator<JobChange, void, void> {
    const { timeout, ...call } = options;
    // Leaving the loop early aborts the pending request or delay.
    const left = new AbortController();
    const { signal } = left;
    const leave = follow(left, call.signal);
    let watch: Task | undefined;
    try {
      refuseUnknown(call, ["signal", "headers"]);
      const sender = await this.#transport.sender();
      watch = new Task(sender, "agentJobs.get", MODE_WATCH, { id }, { timeout });
      const inner = { ...call, signal };
      // If the module fails to load or there is no stream, the loop below polls.
      const module =
        this.#transport.mayStream &&
        (await Promise.race([
          // An abort must not wait for the module.
          new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
          load().catch(() => {}),
        ]));
      if (module) yield* module.streamChanges(this.#transport, watch, id, inner, TOOLS);
      for (;;) {
        const change = await watch.next(this.#transport.callOptions(inner));
        if (change === undefined) return;
        yield { job: change.data as AgentJob, done: change.done };
      }
    } catch (error) {
      throw locate(error, site, options.signal);
    } finally {
      leave();
      left.abort();
      watch?.free();
    }
  }
}

/** Loads the code for event streams, which most clients never need. */
const load = () => import("./job_stream.js");

/** Functions that the event stream module receives, see `Tools`. */
const TOOLS = { follow, sleep };
