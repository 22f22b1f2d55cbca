/** Background agent jobs: create, read, follow up, wait. */

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

/** What can be said about watching a job. */
export interface WatchOptions
  extends Omit<RequestOptions, "timeout" | "totalTimeout" | "maxRetries"> {
  /**
   * How long to watch, in milliseconds: 1 to 2147483647.
   * @default 1800000, half an hour
   */
  timeout?: number | undefined;
}

/** What can be said about waiting for a job. */
export interface WaitOptions extends WatchOptions {
  /** Called with the job as first seen, and with every change of it. */
  onUpdate?: ((job: AgentJob) => void) | undefined;
}

/** A job as it is, after a change. */
export interface JobChange {
  job: AgentJob;
  /** Whether the job has come to its end, and this is the last change. */
  done: boolean;
}

/** What happened to the list of a project's jobs. */
export type JobListChange =
  | {
      /** A job that is new, was sent a follow-up or is not as it was, as it is listed now. */
      job: ListedJob;
      deleted?: undefined;
      reset?: undefined;
    }
  | {
      /** The id of a job whose record was deleted. */
      deleted: string;
      job?: undefined;
      reset?: undefined;
    }
  | {
      /** The gateway no longer has every change since the last one: load the list again. */
      reset: true;
      job?: undefined;
      deleted?: undefined;
    };

/** What can be said about watching all jobs. */
export type WatchAllOptions = Pick<RequestOptions, "signal" | "headers">;

/**
 * A job's identifier, as a job has it. The service promises no job to have one; `null` is
 * refused before anything is sent.
 */
export type JobId = AgentJob["id"];

/** A list of jobs: a promise of one page, and an iterable of every job from there on. */
export type JobList = List<"agentJobs.list">;

/** Background agent jobs. */
export class AgentJobs {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a job, which runs in the background: at most 100 per project per hour. It is
   * sent again to a gateway only, which creates it once; the platform itself could create two.
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
   * Sends a follow-up message to a job, which sets it to work again: at most 100 per
   * project per hour. It is sent again as a creation is: to a gateway only.
   */
  sendMessage(id: JobId, params: { prompt: string }, options?: WriteOptions): ApiPromise<AgentJob> {
    return this.#transport.write("agentJobs.sendMessage", { ...params, id }, options);
  }

  /**
   * Lists the jobs that were created through the gateway, newest first: all of them, or those in a
   * `state`, of an `author`, or with a `text` in their prompt. Awaited, it is one page; iterated, it is
   * every job of every page. Nothing is sent until either is done. The platform itself keeps no such
   * list: there it is a `NotFoundError`.
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
   * Watches all jobs that were created through the gateway: yields each that is new, was sent a
   * follow-up or is not as it was, and the id of each whose record was deleted, whoever did it. It begins
   * with the jobs that changed last, so that nothing is missed after a list, and goes on until it is left,
   * aborted or fails permanently: it reconnects when the stream ends. After a long
   * interruption it yields `reset`: some changes are missing, and you load the list again.
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
  // A default is made when the method is called, and not when what it returns is iterated.
  async *watchAll(options = {}, site = captureCallSite()): AsyncGenerator<JobListChange> {
    yield* (await load()).streamList(this.#transport, options, site, TOOLS);
  }

  /**
   * Waits until a job is `completed`, `archived` or `failed`, and resolves to it. A gateway
   * that streams a job's changes is listened to; otherwise the job is looked at after 2 s,
   * then at growing intervals of up to 30 s, or as the server asks.
   *
   * @throws {JobWaitTimeoutError} when the time runs out; it carries the job as last seen
   */
  async wait(id: JobId, options: WaitOptions = {}): Promise<AgentJob> {
    const { onUpdate, ...watching } = options;
    // A watch that does not fail ends with a job that has come to its end.
    let last!: AgentJob;
    for await ({ job: last } of this.#changes(id, watching, captureCallSite())) onUpdate?.(last);
    return last;
  }

  /**
   * Watches a job: yields it as it is, then after every change, and ends with it.
   *
   * @throws {JobWaitTimeoutError} when the time runs out; it carries the job as last seen
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
    // A watch that is left early takes its request or wait back.
    const left = new AbortController();
    const { signal } = left;
    const leave = follow(left, call.signal);
    let watch: Task | undefined;
    try {
      refuseUnknown(call, ["signal", "headers"]);
      const sender = await this.#transport.sender();
      watch = new Task(sender, "agentJobs.get", MODE_WATCH, { id }, { timeout });
      const inner = { ...call, signal };
      // What a gateway does not stream, polling makes up for. Most clients never need this part.
      const module =
        this.#transport.mayStream &&
        (await Promise.race([
          // An abort is heard while it is loading, too.
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

/** Loads the part that most clients never need. */
const load = () => import("./job_stream.js");

/** What is handed over to that part. */
const TOOLS = { follow, sleep };
