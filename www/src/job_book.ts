import { computed, signal } from "@preact/signals";
import {
  type AgentJob,
  ApiError,
  type Client,
  type ListedJob,
  OutcomeUnknownError,
} from "quillgate";
import { announce } from "./announcer.tsx";
import { Draft, type SendOptions } from "./draft.ts";
import { firstLine, isFinished, jobState } from "./job_state.ts";
import { describeProblem, type Problem } from "./problem.ts";
import { type Limit, tightestLimit } from "./rate_limit.ts";
import { recall, remember } from "./tab_storage.ts";

export interface SentMessage {
  text: string;
  sentAt: number;
}

/** A job that this tab knows of. Prompts and messages are kept here: the API does not list them. */
export interface JobEntry {
  id: string;
  /** Null for a job that was started elsewhere and is followed by its id. */
  prompt: string | null;
  /** The prompt's first line, perhaps shortened, of a job that was started elsewhere. */
  line: string | null;
  startedBy: string | null;
  addedAt: number;
  messages: readonly SentMessage[];
  job: AgentJob | null;
  /** When this page last learned something of the job. */
  newsAt: number | null;
  /** When this page saw the job finish; null when it was not watching. */
  finishedAt: number | null;
  watching: boolean;
  problem: Problem | null;
}

/** Browsers slow down hidden tabs: after an absence this long, look at once. */
const LONG_ABSENCE_MS = 4000;
const ENTRIES_KEPT = 50;

/** The jobs of one project in this tab, newest first, each watched until it is finished. */
export class JobBook {
  readonly entries = signal<readonly JobEntry[]>([]);
  readonly workingCount = computed(
    () => this.entries.value.filter((entry) => entry.job?.status === "active").length,
  );
  readonly newPrompt: Draft;
  /** The job that the person asked to see, until its card shows it. */
  readonly wanted = signal<string | null>(null);
  /** What is left of the limit on new jobs, as the gateway last said. */
  readonly newJobsLeft = signal<Limit | null>(null);
  readonly #drafts = new Map<string, Draft>();
  readonly #watchers = new Map<string, AbortController>();
  readonly #client: Client;
  readonly #ended: AbortSignal;
  readonly #name: string;
  readonly #onNews: () => void;
  #hiddenAt = Date.now();

  /** `onNews` is called when a job was started or may have been, or has changed its state. */
  constructor(client: Client, projectId: string, ended: AbortSignal, onNews: () => void) {
    this.#client = client;
    this.#onNews = onNews;
    this.#ended = ended;
    this.#name = `jobs.${projectId}`;
    this.newPrompt = new Draft(`new.${projectId}`);
    this.entries.value = entriesFrom(recall(this.#name));
  }

  /** Watches what was unfinished before a reload, and looks again when the tab is looked at. */
  start(): void {
    for (const entry of this.entries.peek()) if (!isFinished(entry.job)) this.watch(entry.id);
    const options = { signal: this.#ended };
    document.addEventListener("visibilitychange", () => this.#lookAgain(), options);
  }

  followUp(id: string): Draft {
    const draft = this.#drafts.get(id) ?? new Draft(`follow-up.${id}`);
    this.#drafts.set(id, draft);
    return draft;
  }

  async create(prompt: string, how: SendOptions): Promise<void> {
    const job = await this.#created(prompt, how);
    if (job.id === null) throw new Error("the job was started, but the answer does not say its id");
    this.#add({ ...blankEntry(job.id), prompt, job, newsAt: Date.now() });
    announce(`Job started: ${firstLine(prompt)}`);
    this.watch(job.id);
  }

  async #created(prompt: string, how: SendOptions): Promise<AgentJob> {
    const options = { ...how, signal: this.#ended };
    try {
      const { data, response } = await this.#client.agentJobs
        .create({ prompt }, options)
        .withResponse();
      this.#noteLimit(response.headers);
      return data;
    } catch (error) {
      if (error instanceof ApiError) this.#noteLimit(error.headers);
      throw error;
    } finally {
      this.#onNews();
    }
  }

  #noteLimit(headers: Headers): void {
    const limit = tightestLimit(headers, Date.now());
    if (limit !== null) this.newJobsLeft.value = limit;
  }

  async sendMessage(id: string, prompt: string, how: SendOptions): Promise<void> {
    try {
      const options = { ...how, signal: this.#ended };
      const job = await this.#client.agentJobs.sendMessage(id, { prompt }, options);
      const sent = { text: prompt, sentAt: Date.now() };
      this.#change(id, (entry) => ({ ...entry, messages: [...entry.messages, sent] }));
      this.#seen(id, job);
      announce("Follow-up sent");
      this.watch(id);
    } catch (error) {
      // It may have set the job to work all the same.
      if (error instanceof OutcomeUnknownError) this.watch(id);
      throw error;
    }
  }

  /** Shows a job of the project's list, and watches it. */
  open(listed: ListedJob): void {
    const { id, prompt: line, createdBy: startedBy } = listed;
    const kept = this.#find(id);
    if (!kept) this.#add({ ...blankEntry(id), line, startedBy, job: jobOf(listed) });
    this.wanted.value = id;
    if (!kept?.watching) this.watch(id);
  }

  /** Follows a job that was started elsewhere. */
  follow(id: string): void {
    if (!this.#find(id)) this.#add(blankEntry(id));
    this.watch(id);
  }

  remove(id: string): void {
    this.#stop(id);
    this.#save(this.entries.peek().filter((entry) => entry.id !== id));
  }

  /** Asks for the job now, and goes on asking until it is finished. */
  async watch(id: string): Promise<void> {
    this.#stop(id);
    const controller = new AbortController();
    this.#watchers.set(id, controller);
    const signal = AbortSignal.any([controller.signal, this.#ended]);
    this.#change(id, (entry) => ({ ...entry, watching: true, problem: null }));
    try {
      const onUpdate = (job: AgentJob) => this.#seen(id, job);
      this.#seen(id, await this.#client.agentJobs.wait(id, { onUpdate, signal }));
    } catch (error) {
      if (signal.aborted) return;
      const problem = describeProblem(error, Date.now());
      this.#change(id, (entry) => ({ ...entry, problem }));
    }
    if (this.#watchers.get(id) !== controller) return;
    this.#watchers.delete(id);
    this.#change(id, (entry) => ({ ...entry, watching: false }));
  }

  #stop(id: string): void {
    this.#watchers.get(id)?.abort();
    this.#watchers.delete(id);
  }

  #lookAgain(): void {
    if (document.hidden) {
      this.#hiddenAt = Date.now();
    } else if (Date.now() - this.#hiddenAt > LONG_ABSENCE_MS) {
      for (const id of [...this.#watchers.keys()]) this.watch(id);
    }
  }

  #seen(id: string, job: AgentJob): void {
    const before = this.#find(id);
    if (!before || this.#ended.aborted) return;
    const now = Date.now();
    const finished = isFinished(job);
    const sawItFinish = finished && before.job !== null && !isFinished(before.job);
    const finishedAt = sawItFinish ? now : finished ? before.finishedAt : null;
    this.#change(id, (entry) => ({ ...entry, job, newsAt: now, finishedAt, problem: null }));
    const { word } = jobState(job);
    if (before.job !== null && word !== jobState(before.job).word) {
      announce(`${word}: ${titleOf(before)}`);
      this.#onNews();
    }
  }

  #find(id: string): JobEntry | undefined {
    return this.entries.peek().find((entry) => entry.id === id);
  }

  #add(entry: JobEntry): void {
    const others = this.entries.peek().filter(({ id }) => id !== entry.id);
    this.#save([entry, ...others].slice(0, ENTRIES_KEPT));
  }

  #change(id: string, change: (entry: JobEntry) => JobEntry): void {
    this.#save(this.entries.peek().map((entry) => (entry.id === id ? change(entry) : entry)));
  }

  #save(entries: readonly JobEntry[]): void {
    this.entries.value = entries;
    if (!this.#ended.aborted) remember(this.#name, entries);
  }
}

/** What a job is called: its prompt's first line, where that is known. */
export function titleOf({ id, prompt, line }: JobEntry): string {
  return prompt === null ? line || `Job ${id}` : firstLine(prompt);
}

/** As much of a job as a list tells. */
function jobOf({ id, status, prLink, createdAt }: ListedJob): AgentJob {
  return { id, status, prLink, createdAt, source: null, model: null, archivedAt: null };
}

function blankEntry(id: string): JobEntry {
  return {
    id,
    prompt: null,
    line: null,
    startedBy: null,
    addedAt: Date.now(),
    messages: [],
    job: null,
    newsAt: null,
    finishedAt: null,
    watching: false,
    problem: null,
  };
}

/** Entries as this page wrote them; whatever else is found there is left out. */
function entriesFrom(kept: unknown): JobEntry[] {
  if (!Array.isArray(kept)) return [];
  return kept
    .filter((entry) => typeof entry?.id === "string" && Array.isArray(entry.messages))
    .map((entry) => ({ ...blankEntry(entry.id), ...entry, watching: false, problem: null }));
}
