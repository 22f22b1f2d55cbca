import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import {
  type AgentJob,
  ApiError,
  type Client,
  type CreatedJob,
  type JobListChange,
  type ListedJob,
  OutcomeUnknownError,
  type WriteOptions,
} from "quillgate";
import type { FeedState, OpenStream } from "../live/feed.ts";
import { Following } from "../live/following.ts";
import { watchTarget } from "../live/watch_target.ts";
import { Draft, type SendOptions } from "../sending/draft.ts";
import { allows, type Claims, type KeptPrompts } from "../session/claims.ts";
import type { Entry, PersonData } from "../session/person_data.ts";
import { announce } from "../shell/announcer.tsx";
import { currentTime } from "../shell/clock_skew.ts";
import { visit } from "../shell/navigation.ts";
import { describeProblem, isShownBy } from "../shell/problem.ts";
import { type Limit, noteLimit } from "../shell/rate_limit.ts";
import { keyOf } from "../shell/storage.ts";
import { toast } from "../shell/toast.ts";
import { DraftShelf } from "./draft_shelf.ts";
import type { JobFilter } from "./job_filter.ts";
import { firstLine, isFinished, jobState, titleOf } from "./job_state.ts";
import type { JobsApi } from "./jobs_api.ts";
import { type JobNotice, noticeOf, notifyDesktop, titleMark } from "./notices.ts";
import { OpenJob } from "./open_job.ts";
import { ProjectJobs } from "./project_jobs.ts";
import { SentTextMemory } from "./sent_texts.ts";
import { TemplateShelf } from "./templates.ts";
import { JOB_WORDS, LIST_WORDS } from "./words.ts";

/** The maximum number of jobs whose last known state is remembered. */
const MAX_SEEN = 1000;

interface SeenJob {
  status: string | null;
  prLink: string | null;
  title: string;
  isOwn: boolean;
}

export interface JobBookSession {
  client: Client;
  projectId: string;
  claims: Claims;
  data: PersonData;
  /** Opens the stream of the project's jobs. */
  openStream: OpenStream<JobListChange>;
  /** Called with the jobs of each response and event. */
  onJobs?(jobs: readonly ListedJob[]): void;
  /** Called with the id of each deleted job. */
  onDeleted?(id: string): void;
  /** Aborted when the session ends. */
  ended: AbortSignal;
}

/**
 * The jobs of one project: the shared list, its changes, and this browser's drafts and prompts.
 */
export class JobBook {
  readonly list: ProjectJobs;
  readonly #following: Following<ListedJob, JobFilter, JobListChange>;
  readonly drafts: DraftShelf;
  readonly templates: TemplateShelf;
  readonly sent: SentTextMemory;
  /** The job on its own page; null for the list. */
  readonly opened = signal<OpenJob | null>(null);
  /** Whether the panel for a new job is open. */
  readonly composing: ReadonlySignal<boolean>;
  readonly #composing = signal(false);
  /** The rate limit on new jobs, from the latest response. */
  readonly newJobsLeft = signal<Limit | null>(null);
  readonly #seen = signal<ReadonlyMap<string, SeenJob>>(new Map());
  readonly #unseenEnds = signal<readonly JobNotice[]>([]);
  readonly #ownWorking = computed(() =>
    [...this.#seen.value].filter(([, { isOwn, status }]) => isOwn && status === "active"),
  );
  /** The prefix of the window's title. */
  readonly titleMark = computed(() =>
    titleMark(this.#unseenEnds.value, this.#ownWorking.value.length),
  );
  readonly #followUps = new Map<string, Draft>();
  readonly #client: Client;
  readonly #api: JobsApi;
  readonly #data: PersonData;
  readonly projectId: string;
  /** Stores whether the panel is open. */
  readonly #panel: Entry;
  readonly #subject: string | null;
  readonly #onDeleted: (id: string) => void;
  readonly #keeps: KeptPrompts;
  readonly mayRead: boolean;
  readonly #ended: AbortSignal;
  /**
   * The one job with a separate stream. It is the opened job if the project's stream does not
   * include it. Without a project stream, it is a running job that the person started.
   */
  readonly #watchTarget = computed((): string | null => {
    const opened = this.opened.value;
    // A connecting stream usually delivers within a moment.
    const isLive = ["live", "connecting"].includes(this.feedState.value);
    // Wait for the record: the project's stream includes only jobs with one.
    if (isLive && opened?.loading.value) return null;
    const isTold = isLive && opened !== null && opened.record.value !== null;
    const facts = opened?.facts.value ?? null;
    if (facts !== null && !isFinished(facts) && !isTold) return facts.id;
    const [id = null] = isLive ? [] : (this.#ownWorking.value.at(-1) ?? []);
    return id;
  });
  #watchAgain = () => {};

  constructor(given: JobBookSession) {
    const { client, projectId, claims, data, openStream, onJobs, onDeleted, ended } = given;
    this.#client = client;
    this.#onDeleted = (id) => onDeleted?.(id);
    this.#api = client.agentJobs;
    this.#subject = claims.subject;
    this.#data = data;
    this.projectId = projectId;
    this.#panel = data.entry("panel", projectId);
    this.#composing.value = this.#panel.read() === true;
    this.#keeps = claims.keepsPrompts;
    this.mayRead = allows(claims, "jobs:read");
    this.#ended = ended;
    this.composing = this.#composing;
    this.drafts = new DraftShelf(data, projectId, ended);
    this.templates = new TemplateShelf(data, ended);
    this.sent = new SentTextMemory(data, projectId, ended);
    const renew = ({ key }: Entry) => {
      for (const draft of this.#followUps.values()) if (draft.key === key) draft.renew();
    };
    data.onChangeElsewhere(["follow-up", projectId], renew, ended);
    this.list = new ProjectJobs(this.#api, ended, (jobs) => {
      for (const job of jobs) this.#meet(job);
      onJobs?.(jobs);
    });
    this.#following = new Following({
      list: this.list,
      openStream,
      shareAs: keyOf("jobs", data.person, projectId),
      onEvent: (event) => this.#hear(event),
      isWanted: () => this.#ownWorking.peek().length > 0,
      ended,
    });
  }

  get feedState(): ReadonlySignal<FeedState> {
    return this.#following.state;
  }

  /** Whether the list is visible and must stay current. */
  get inSight(): Signal<boolean> {
    return this.#following.inSight;
  }

  /**
   * Follows the project's jobs until the session ends. Does nothing if the session may not read
   * jobs.
   */
  start(): void {
    if (!this.mayRead) return;
    const signal = this.#ended;
    document.addEventListener("visibilitychange", () => this.#forgetEnds(), { signal });
    const watch = async (id: string, signal: AbortSignal) => {
      const onUpdate = (job: AgentJob) => this.#receive(id, job);
      onUpdate(await this.#api.wait(id, { onUpdate, signal }));
    };
    const onFailure = (id: string, error: unknown) => {
      const opened = this.opened.peek();
      if (opened?.id !== id || isShownBy(opened.problem.peek(), error)) return;
      opened.problem.value = describeProblem(error, currentTime());
    };
    this.#watchAgain = watchTarget(this.#watchTarget, watch, onFailure, signal);
    this.#following.start();
  }

  /** Opens or closes the panel for a new job. Its state survives a reload. */
  setComposing(open: boolean): void {
    this.#composing.value = open;
    this.#panel.write(open);
  }

  /** Shows a job on its own page. */
  open(id: string): OpenJob {
    const current = this.opened.peek();
    if (current?.id === id) return current;
    const job = new OpenJob(id, {
      api: this.#api,
      sent: this.sent,
      keeps: this.#keeps,
      ended: this.#ended,
    });
    const listed = this.list.find(id);
    if (listed) job.receiveListed(listed);
    job.load().then(() => this.#meetOpened(job));
    this.opened.value = job;
    this.#watchAgain();
    return job;
  }

  /** Returns to the list. */
  close(): void {
    this.opened.value = null;
  }

  /** Loads the opened job again, and retries its stream if that failed. */
  async checkAgain(job: OpenJob): Promise<void> {
    await job.load();
    this.#meetOpened(job);
    this.#watchAgain();
  }

  followUp(id: string): Draft {
    const entry = this.#data.entry("follow-up", this.projectId, id);
    const draft = this.#followUps.get(id) ?? new Draft(entry);
    this.#followUps.set(id, draft);
    return draft;
  }

  /** Creates a job and returns its id. */
  async create(prompt: string, how: SendOptions): Promise<string> {
    const job = await this.#create(prompt, how);
    const { id } = job;
    this.sent.notePrompt(id, prompt);
    this.list.receive({ item: toListedJob(job, prompt, this.#subject) });
    return id;
  }

  async #create(prompt: string, how: SendOptions): Promise<CreatedJob> {
    try {
      const options = this.#toOptions(how);
      const { data, response } = await this.#client.agentJobs
        .create({ prompt }, options)
        .withResponse();
      noteLimit(this.newJobsLeft, response.headers);
      return data;
    } catch (error) {
      if (error instanceof ApiError) noteLimit(this.newJobsLeft, error.headers);
      throw error;
    } finally {
      this.#following.renew();
    }
  }

  #hear(event: Exclude<JobListChange, { reset: true }>): void {
    if (event.deleted === undefined) {
      this.list.receive({ item: event.job });
      return;
    }
    this.list.receive({ deleted: event.deleted });
    this.sent.forget(event.deleted);
    this.#onDeleted(event.deleted);
    const opened = this.opened.peek();
    if (opened?.id === event.deleted) opened.forgetRecord();
  }

  async sendMessage(id: string, prompt: string, how: SendOptions): Promise<void> {
    try {
      const options = this.#toOptions(how);
      const job = await this.#client.agentJobs.sendMessage(id, { prompt }, options);
      this.sent.noteMessage(id, prompt, currentTime());
      this.#receive(id, job);
      this.opened.peek()?.load();
      announce(JOB_WORDS.followUpSent);
    } catch (error) {
      // The job may be running although the request failed, so load its state.
      const opened = this.opened.peek();
      const mayHaveArrived = error instanceof OutcomeUnknownError || how.signal.aborted;
      if (mayHaveArrived && opened?.id === id) this.checkAgain(opened);
      throw error;
    }
  }

  /** Returns the client's options of a write that also ends with the session. */
  #toOptions({ idempotencyKey, force, signal }: SendOptions): WriteOptions {
    return { idempotencyKey, force, signal: AbortSignal.any([signal, this.#ended]) };
  }

  /** Applies a job's new state to its page and to the list. */
  #receive(id: string, job: AgentJob): void {
    const opened = this.opened.peek();
    if (opened?.id === id) {
      opened.receive(job);
      this.#meetOpened(opened);
    }
    const { status, prLink } = job;
    const listed = this.list.find(id);
    if (listed && (listed.status !== status || listed.prLink !== prLink)) {
      this.list.receive({ item: { ...listed, status, prLink } });
    }
  }

  #meetOpened(opened: OpenJob): void {
    const facts = opened.facts.peek();
    // A closed job receives no events, so its state can be outdated.
    if (facts === null || this.opened.peek() !== opened) return;
    const { id, status, prLink, prompt, createdBy } = facts;
    this.#note(id, { status, prLink, prompt, createdBy });
    const listed = this.list.find(id);
    if (listed && (listed.status !== status || listed.prLink !== prLink)) {
      this.list.receive({ item: { ...listed, status, prLink } });
    }
  }

  #meet(job: ListedJob): void {
    const opened = this.opened.peek();
    if (opened?.id === job.id) {
      const before = opened.facts.peek();
      const isNews = before?.status !== job.status || before?.prLink !== job.prLink;
      opened.receiveListed(job);
      if (isNews || this.feedState.peek() === "live") opened.load();
    }
    this.#note(job.id, job);
  }

  /** Records a job's state. Announces the end of an own job, and any change of the open job. */
  #note(id: string, job: Pick<ListedJob, "status" | "prLink" | "prompt" | "createdBy">): void {
    const before = this.#seen.peek().get(id);
    const { prompt } = this.sent.of(id);
    const isOwn = prompt !== null || (this.#subject !== null && job.createdBy === this.#subject);
    const title = titleOf(prompt ?? job.prompt ?? "") || before?.title || LIST_WORDS.untitled(id);
    const seen = { status: job.status, prLink: job.prLink, title, isOwn: isOwn || !!before?.isOwn };
    if (before?.status === seen.status && before.prLink === seen.prLink) return;
    this.#seen.value = forgetOldest(new Map(this.#seen.peek()).set(id, seen));
    const notice = noticeOf(id, before, seen, title);
    const isOpen = this.opened.peek()?.id === id;
    if (notice !== null && seen.isOwn) this.#tell(notice, isOpen);
    else if (before !== undefined && isOpen) announce(`${jobState(seen).word}: ${title}`);
  }

  #tell(notice: JobNotice, isOpen: boolean): void {
    const { id, word, title } = notice;
    const show = () => visit({ route: "jobs", project: this.projectId, jobs: { id } });
    if (isOpen && !document.hidden) announce(`${word}: ${title}`);
    else toast({ text: `${word}: ${title}`, action: { label: LIST_WORDS.open, run: show } });
    if (document.hidden) this.#unseenEnds.value = [...this.#unseenEnds.peek(), notice];
    notifyDesktop(notice, show);
  }

  #forgetEnds(): void {
    if (!document.hidden) this.#unseenEnds.value = [];
  }
}

/**
 * Drops the finished jobs that were seen first until `MAX_SEEN` jobs are left, because finished
 * jobs rarely change. Keeps all other jobs.
 */
function forgetOldest(seen: Map<string, SeenJob>): Map<string, SeenJob> {
  for (const [id, job] of seen) {
    if (seen.size <= MAX_SEEN) break;
    if (isFinished(job)) seen.delete(id);
  }
  return seen;
}

/** Returns the list entry of a job that was just started. */
function toListedJob(job: CreatedJob, prompt: string, createdBy: string | null): ListedJob {
  const { id, status, prLink } = job;
  // Mintlify's clock may be wrong. The list later has the time from the gateway's record.
  const createdAt = new Date(currentTime()).toISOString();
  return { id, status, prLink, prompt: firstLine(prompt), createdBy, createdAt, checkedAt: null };
}
