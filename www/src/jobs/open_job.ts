import { computed, signal } from "@preact/signals";
import type { AgentJob, JobRecord, ListedJob } from "quillgate";
import { Loader } from "../live/loader.ts";
import type { KeptPrompts } from "../session/claims.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { isFinished } from "./job_state.ts";
import type { JobsApi } from "./jobs_api.ts";
import type { SentTextMemory } from "./sent_texts.ts";
import { buildThread } from "./thread.ts";
import { buildTimeline, lastWorkSpan } from "./timeline.ts";

/** The known facts about a job, from all sources. */
export interface JobFacts {
  id: string;
  status: string | null;
  prLink: string | null;
  prompt: string | null;
  createdBy: string | null;
  createdAt: string | null;
  archivedAt: string | null;
  repository: string | null;
  branch: string | null;
  model: string | null;
}

export interface OpenJobSource {
  api: JobsApi;
  sent: SentTextMemory;
  keeps: KeptPrompts;
  /** Aborted when the session ends. */
  ended: AbortSignal;
}

/** The job on its own page. */
export class OpenJob {
  readonly id: string;
  readonly problem = signal<Problem | null>(null);
  /** Whether the last load failed with a 404. */
  readonly isMissing = signal(false);
  readonly loading = signal(false);
  /** The time of the gateway's latest answer or event about the job. */
  readonly newsAt = signal<number | null>(null);
  readonly #job = signal<AgentJob | null>(null);
  readonly #listed = signal<ListedJob | null>(null);
  readonly record = signal<JobRecord | null>(null);
  /** Whether the record was deleted during the current load. */
  #isRecordDeleted = false;
  /** When this page saw the job finish. Older gateways do not record that time. */
  readonly #sawFinish = signal<number | null>(null);
  readonly #api: JobsApi;
  readonly #sent: SentTextMemory;
  readonly #keeps: KeptPrompts;
  readonly #ended: AbortSignal;
  readonly #loader = new Loader(() => this.#load());

  readonly facts = computed((): JobFacts | null => {
    const [job, listed] = [this.#job.value, this.#listed.value];
    if (job === null && listed === null) return null;
    // `listed` also receives Mintlify's updates, so it is the newest.
    const state = listed ?? job;
    return {
      id: this.id,
      status: state?.status ?? null,
      prLink: state?.prLink ?? null,
      prompt: listed?.prompt ?? null,
      createdBy: listed?.createdBy ?? null,
      createdAt: listed?.createdAt ?? job?.createdAt ?? null,
      archivedAt: job?.archivedAt ?? null,
      repository: job?.source?.repository ?? null,
      branch: job?.source?.ref ?? null,
      model: job?.model ?? null,
    };
  });
  readonly thread = computed(() =>
    buildThread(
      this.record.value,
      this.#sent.of(this.id),
      this.facts.value,
      // Without a record, only the listed line is known. Avoid claiming that while the record
      // loads.
      this.record.value === null && !this.loading.value ? "first-line" : this.#keeps,
    ),
  );
  readonly #changes = computed(() => {
    const recorded = this.record.value?.changes ?? [];
    const [finishedAt, facts] = [this.#sawFinish.value, this.facts.value];
    if (recorded.length > 0 || finishedAt === null || facts === null) return recorded;
    const { status, prLink } = facts;
    return [{ at: new Date(finishedAt).toISOString(), status, prLink }];
  });
  readonly timeline = computed(() => buildTimeline(this.thread.value, this.#changes.value));
  readonly workSpan = computed(() => lastWorkSpan(this.thread.value, this.#changes.value));

  constructor(id: string, { api, sent, keeps, ended }: OpenJobSource) {
    this.id = id;
    this.#api = api;
    this.#sent = sent;
    this.#keeps = keeps;
    this.#ended = ended;
  }

  /** Loads the job and its record. A call during a load starts another one afterwards. */
  load(): Promise<void> {
    return this.#loader.load();
  }

  /** Applies a job from a stream or a list. */
  receiveListed(listed: ListedJob): void {
    const before = this.facts.peek();
    this.#listed.value = listed;
    this.#note(before);
  }

  /** Applies a job from Mintlify. */
  receive(job: AgentJob): void {
    const before = this.facts.peek();
    this.#job.value = job;
    const listed = this.#listed.peek();
    if (listed !== null) {
      const { status, prLink } = job;
      this.#listed.value = {
        ...listed,
        status,
        prLink,
        checkedAt: new Date(currentTime()).toISOString(),
      };
    }
    this.#note(before);
  }

  /** Removes the record after the gateway has deleted its own. */
  forgetRecord(): void {
    this.record.value = null;
    this.#isRecordDeleted = true;
  }

  async #load(): Promise<void> {
    this.loading.value = true;
    const options = { signal: this.#ended };
    this.#isRecordDeleted = false;
    const [listed, known] = [this.#listed.peek(), this.#job.peek()];
    const isOvertaken = () => this.#job.peek() !== known;
    try {
      const [job, record] = await Promise.all([
        Promise.resolve(this.#api.get(this.id, options)),
        this.#loadRecord(options),
      ]);
      if (record !== null && !this.#isRecordDeleted) this.record.value = record;
      if (isOvertaken()) return;
      // An event arrived meanwhile. It is newer than both responses and triggers another load.
      if (this.#listed.peek() !== listed) {
        this.#job.value = job;
        return;
      }
      if (record !== null) this.#listed.value = record.job;
      this.receive(job);
    } catch (error) {
      if (this.#ended.aborted || isOvertaken()) return;
      this.isMissing.value = (error as { status?: number }).status === 404;
      this.problem.value = describeProblem(error, currentTime());
    } finally {
      this.loading.value = false;
    }
  }

  /** Returns null if the gateway has no record of the job, or if the request fails. */
  async #loadRecord(options: { signal: AbortSignal }): Promise<JobRecord | null> {
    try {
      return (await this.#api.record?.(this.id, options)) ?? null;
    } catch {
      return null;
    }
  }

  #note(before: JobFacts | null): void {
    const facts = this.facts.peek();
    this.newsAt.value = currentTime();
    this.problem.value = null;
    this.isMissing.value = false;
    if (!isFinished(facts)) this.#sawFinish.value = null;
    else if (before !== null && !isFinished(before)) this.#sawFinish.value = currentTime();
  }
}
