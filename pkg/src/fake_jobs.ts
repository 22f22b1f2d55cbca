/** The jobs of the fake gateway. */

import { FakeRecords, type Stored } from "./fake_records.js";
import type { AgentJob, JobRecord, JobStatus, ListedJob } from "./types.js";

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

/** Stores jobs, and finishes each after its duration. */
export class FakeJobs extends FakeRecords<FakeJob> {
  readonly name = "job";
  readonly idName = "id";
  protected readonly final = ["completed", "failed", "archived"];
  /** The follow-ups, by the id of the job. */
  readonly #messages = new Map<string, { prompt: string; author: string; sentAt: string }[]>();

  protected idOf({ id }: FakeJob): string {
    return id;
  }

  /** @throws {TypeError} if there is already a job with this id */
  create(given: Pick<FakeJob, "prompt" | "createdBy"> & Partial<FakeJob>): FakeJob {
    const { id = this.findFreeId() } = given;
    const createdAt = given.createdAt ?? new Date(this.settings.now()).toISOString();
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
    this.add(job, createdAt);
    const author = job.createdBy;
    this.#messages.set(
      id,
      job.messages.map((prompt) => ({ prompt, author, sentAt: createdAt })),
    );
    return job;
  }

  /** Adds a follow-up, which resumes the job. Returns `undefined` for an unknown job. */
  message(id: string, prompt: string, author: string): AgentJob | undefined {
    const stored = this.stored.get(id);
    if (stored === undefined) return undefined;
    const now = this.settings.now();
    this.#messages.get(id)?.push({ prompt, author, sentAt: new Date(now).toISOString() });
    stored.startedAt = now;
    const messages = [...stored.item.messages, prompt];
    this.apply(stored, { status: "active", messages }, now);
    return this.get(id);
  }

  protected override apply(stored: Stored<FakeJob>, change: Partial<FakeJob>, at: number): void {
    const archivedAt = new Date(at).toISOString();
    const isArchived = change.status === "archived";
    super.apply(stored, { ...change, ...(isArchived && { archivedAt }) }, at);
  }

  get(jobId: string): AgentJob | undefined {
    const job = this.find(jobId);
    if (job === undefined) return undefined;
    const { id, status, source, model, prLink, createdAt, archivedAt } = job;
    return { id, status, source, model, prLink, createdAt, archivedAt };
  }

  /** Lists the recorded jobs that match. The job added last comes first. */
  list({ state, author, text }: Record<string, unknown>): ListedJob[] {
    const needle = String(text ?? "").toLowerCase();
    const rows = this.recorded().map((stored) => this.toRow(stored));
    return rows.filter((job) => {
      const isState = state === undefined || job.status === state;
      const isAuthor = author === undefined || job.createdBy === author;
      return isState && isAuthor && job.prompt?.toLowerCase().includes(needle);
    });
  }

  /** Returns the record of a job; `undefined` for an unknown job and after `deleteRecord`. */
  record(id: string): JobRecord | undefined {
    const stored = this.stored.get(id);
    if (!stored?.isRecorded) return undefined;
    const changes = stored.changes.map(({ at, item }) => {
      return { at, status: item.status, prLink: item.prLink };
    });
    const messages = this.#messages.get(id) ?? [];
    return { job: this.toRow(stored), prompt: stored.item.prompt, messages, changes };
  }

  protected toRow({ item, checkedAt }: Stored<FakeJob>): ListedJob {
    const { id, status, prompt, createdBy, createdAt, prLink } = item;
    return { id, status, prompt, createdBy, createdAt, prLink, checkedAt };
  }
}
