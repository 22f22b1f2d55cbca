/** The jobs of the fake gateway. */

import type { AgentJob, JobRecord, JobStatus, ListedJob } from "./types.js";

const TERMINAL: readonly (JobStatus | null)[] = ["completed", "failed", "archived"];

/** A job of the fake gateway. */
export interface FakeJob extends AgentJob {
  id: string;
  status: JobStatus;
  createdAt: string;
  /** The prompt. */
  prompt: string;
  /** The prompts of its follow-ups. */
  messages: readonly string[];
  /** The author in the list of jobs. */
  createdBy: string;
  /** The address of its webhook, or `null`. */
  webhookUrl: string | null;
}

/** The properties that a change of a job may set. */
export type FakeJobChange = Partial<Pick<FakeJob, "status" | "prLink" | "model" | "source">>;

/** Settings of {@link FakeJobs}. */
export interface FakeJobSettings {
  /** Returns the current time, in milliseconds since 1970. */
  now: () => number;
  /** How long a job works on a prompt, in milliseconds. */
  duration: number;
  /** Returns the properties that change when a job finishes. */
  finish: (job: FakeJob) => FakeJobChange;
}

/** A change of a job, or of the list of jobs. */
export interface JobEvent {
  jobId: string;
  /** The number of the change in the project, from 1. */
  revision: number;
}

interface StoredJob {
  job: FakeJob;
  /** When the current work started; `undefined` for jobs that never finish on their own. */
  startedAt: number | undefined;
  messages: { prompt: string; author: string; sentAt: string }[];
  changes: { at: string; status: JobStatus; prLink: string | null }[];
  revision: number;
  isRecorded: boolean;
  checkedAt: string;
}

/** Stores jobs, and finishes each after its duration. */
export class FakeJobs {
  readonly #settings: FakeJobSettings;
  readonly #stored = new Map<string, StoredJob>();
  /** The ids of deleted records, by the number of the change. */
  readonly deleted = new Map<number, string>();
  /** The number of the latest change. */
  revision = 0;
  /** Called after each change. */
  onChange: (event: JobEvent) => void = () => {};

  constructor(settings: FakeJobSettings) {
    this.#settings = settings;
  }

  /** All jobs, in the order in which they were added. */
  get all(): FakeJob[] {
    this.settle();
    return [...this.#stored.values()].map(({ job }) => ({ ...job }));
  }

  /** Finishes every job whose duration has passed. */
  settle(): void {
    for (const stored of this.#stored.values()) {
      const end = this.#endOf(stored);
      if (end !== undefined && end <= this.#settings.now()) {
        this.#apply(stored, { status: "completed", ...this.#settings.finish(stored.job) }, end);
      }
    }
  }

  /** Returns when the next job finishes, in milliseconds since 1970; `Infinity` if none will. */
  get nextEnd(): number {
    const ends = [...this.#stored.values()].map((stored) => this.#endOf(stored));
    return Math.min(...ends.filter((end) => end !== undefined));
  }

  #endOf({ startedAt, job }: StoredJob): number | undefined {
    if (startedAt === undefined || TERMINAL.includes(job.status)) return undefined;
    return startedAt + this.#settings.duration;
  }

  /** @throws {TypeError} if there is already a job with this id */
  create(given: Pick<FakeJob, "prompt" | "createdBy"> & Partial<FakeJob>): FakeJob {
    const { id = this.#findFreeId() } = given;
    if (this.#stored.has(id)) throw new TypeError(`there is already a job ${id}`);
    const now = this.#settings.now();
    const createdAt = given.createdAt ?? new Date(now).toISOString();
    const job: FakeJob = {
      status: "active",
      source: { repository: "acme/docs", ref: "main" },
      model: "fake-model",
      prLink: null,
      archivedAt: null,
      webhookUrl: null,
      ...given,
      messages: [...(given.messages ?? [])],
      id,
      createdAt,
    };
    const stored: StoredJob = {
      job,
      startedAt: now,
      messages: job.messages.map((prompt) => {
        return { prompt, author: job.createdBy, sentAt: createdAt };
      }),
      changes: [],
      revision: 0,
      isRecorded: true,
      checkedAt: createdAt,
    };
    this.#stored.set(job.id, stored);
    this.#apply(stored, {}, now);
    return job;
  }

  #findFreeId(): string {
    let number = this.#stored.size + 1;
    while (this.#stored.has(`job-${number}`)) number++;
    return `job-${number}`;
  }

  /** Adds a follow-up, which resumes the job. Returns `undefined` for an unknown job. */
  message(id: string, prompt: string, author: string): AgentJob | undefined {
    const stored = this.#stored.get(id);
    if (stored === undefined) return undefined;
    const now = this.#settings.now();
    stored.messages.push({ prompt, author, sentAt: new Date(now).toISOString() });
    stored.job = { ...stored.job, messages: [...stored.job.messages, prompt] };
    stored.startedAt = now;
    this.#apply(stored, { status: "active" }, now);
    return toAgentJob(stored.job);
  }

  /**
   * Changes a job. It no longer finishes on its own, unless it receives a follow-up.
   *
   * @throws {TypeError} if there is no such job
   */
  update(id: string, change: FakeJobChange): FakeJob {
    const stored = this.#stored.get(id);
    if (stored === undefined) throw new TypeError(`there is no job ${id}`);
    stored.startedAt = undefined;
    this.#apply(stored, change, this.#settings.now());
    return stored.job;
  }

  #apply(stored: StoredJob, change: FakeJobChange, at: number): void {
    const isArchived = change.status === "archived";
    const time = new Date(at).toISOString();
    stored.job = { ...stored.job, ...change, ...(isArchived && { archivedAt: time }) };
    const { id, status, prLink } = stored.job;
    stored.changes.push({ at: time, status, prLink });
    stored.checkedAt = time;
    stored.revision = ++this.revision;
    this.onChange({ jobId: id, revision: stored.revision });
  }

  /** Returns a job as Mintlify does. */
  get(id: string): AgentJob | undefined {
    const stored = this.#stored.get(id);
    return stored && toAgentJob(stored.job);
  }

  /** Returns a job with its prompt, follow-ups and webhook address. */
  find(id: string): FakeJob | undefined {
    return this.#stored.get(id)?.job;
  }

  /** Returns the number of changes of a job. */
  countChanges(id: string): number {
    return this.#stored.get(id)?.changes.length ?? 0;
  }

  /** Returns whether a job has finished. */
  isFinished(id: string): boolean {
    return TERMINAL.includes(this.#stored.get(id)?.job.status ?? null);
  }

  /** Lists the recorded jobs that match. The job added last comes first. */
  list({ state, author, text }: Record<string, unknown>): ListedJob[] {
    const needle = String(text ?? "").toLowerCase();
    const rows = [...this.#stored.values()].filter(({ isRecorded }) => isRecorded).reverse();
    return rows.map(toListedJob).filter((job) => {
      const isState = state === undefined || job.status === state;
      const isAuthor = author === undefined || job.createdBy === author;
      return isState && isAuthor && job.prompt?.toLowerCase().includes(needle);
    });
  }

  /** Lists the recorded jobs that changed after a revision, oldest change first. */
  changedAfter(revision: number): { job: ListedJob; revision: number }[] {
    const rows = [...this.#stored.values()].filter(({ isRecorded }) => isRecorded);
    const changed = rows.filter((stored) => stored.revision > revision);
    changed.sort((one, other) => one.revision - other.revision);
    return changed.map((stored) => ({ job: toListedJob(stored), revision: stored.revision }));
  }

  /** Returns the record of a job; `undefined` for an unknown job and after `deleteRecord`. */
  record(id: string): JobRecord | undefined {
    const stored = this.#stored.get(id);
    if (!stored?.isRecorded) return undefined;
    const { messages, changes } = stored;
    return { job: toListedJob(stored), prompt: stored.job.prompt, messages, changes };
  }

  /** Deletes the record of a job. Returns whether there was one. */
  deleteRecord(id: string): boolean {
    const stored = this.#stored.get(id);
    if (!stored?.isRecorded) return false;
    stored.isRecorded = false;
    const revision = ++this.revision;
    this.deleted.set(revision, id);
    this.onChange({ jobId: id, revision });
    return true;
  }
}

function toAgentJob(job: FakeJob): AgentJob {
  const { id, status, source, model, prLink, createdAt, archivedAt } = job;
  return { id, status, source, model, prLink, createdAt, archivedAt };
}

function toListedJob({ job, checkedAt }: StoredJob): ListedJob {
  const { id, status, prompt, createdBy, createdAt, prLink } = job;
  return { id, status, prompt, createdBy, createdAt, prLink, checkedAt };
}
