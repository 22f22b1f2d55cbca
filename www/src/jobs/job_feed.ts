import { type Signal, signal } from "@preact/signals";
import type { JobListChange } from "quillgate";
import type { JobUpdate } from "./job_listing.ts";
import type { JobsApi } from "./jobs_api.ts";

/** Whether news come by themselves, or the list has to be asked for at intervals. */
export type FeedState = "live" | "polling";

/** What a feed waits by: the browser's timer, or a test's. */
export type Pause = (milliseconds: number, ended: AbortSignal) => Promise<void>;

/** What tabs say to each other when one of them has the stream for all. */
type TabMessage =
  | { kind: "event"; event: JobListChange }
  | { kind: "state"; state: FeedState }
  | { kind: "question" };

export interface FeedOptions {
  /** Tabs that use the same name share one stream; null for a stream of one's own. */
  shareAs: string | null;
  /** Called with each changed or deleted job. */
  onEvent(event: JobUpdate): void;
  /** Called when the gateway no longer has every change that was missed. */
  onReset(): void;
  /** Called when something may have been missed. */
  onGap(): void;
  pause?: Pause;
}

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;
/** A stream that lasted so long was a good one. */
const GOOD_STREAM_MS = 60_000;

/**
 * The news of all jobs of a project: one stream for all tabs of this browser, since a browser
 * opens six connections to a gateway over HTTP/1.1 and each stream keeps one.
 */
export class JobFeed {
  readonly state: Signal<FeedState>;
  readonly #api: JobsApi;
  readonly #ended: AbortSignal;
  readonly #options: FeedOptions;
  readonly #pause: Pause;
  #tabs: BroadcastChannel | null = null;
  #isLeader = false;

  constructor(api: JobsApi, ended: AbortSignal, options: FeedOptions) {
    this.#api = api;
    this.#ended = ended;
    this.#options = options;
    this.#pause = options.pause ?? pause;
    this.state = signal(api.watchAll === undefined ? "polling" : "live");
  }

  /** Listens until the session ends. */
  async run(): Promise<void> {
    if (this.#api.watchAll === undefined) return;
    const { shareAs } = this.#options;
    if (shareAs === null || !canShare()) return this.#stream();
    const tabs = new BroadcastChannel(shareAs);
    this.#tabs = tabs;
    this.#ended.addEventListener("abort", () => tabs.close());
    tabs.addEventListener("message", ({ data }) => this.#hear(data as TabMessage));
    this.#say({ kind: "question" });
    // Whoever has the lock has the stream; when that tab is closed, the next one gets the lock.
    const lead = () => {
      this.#isLeader = true;
      return this.#stream();
    };
    await navigator.locks.request(shareAs, { signal: this.#ended }, lead).catch(() => {});
  }

  async #stream(): Promise<void> {
    let wait = FIRST_PAUSE_MS;
    let isFirst = true;
    while (!this.#ended.aborted) {
      const startedAt = Date.now();
      // A tab that takes over, and a stream after another, may have missed something.
      if (!isFirst || this.#isLeader) this.#options.onGap();
      isFirst = false;
      const isThere = await this.#listen();
      if (this.#ended.aborted) return;
      this.#setState("polling");
      if (!isThere) return;
      wait = Date.now() - startedAt > GOOD_STREAM_MS ? FIRST_PAUSE_MS : wait;
      await this.#pause(wait, this.#ended);
      wait = Math.min(wait * 2, MAX_PAUSE_MS);
    }
  }

  /** Listens to one stream. Says whether it makes sense to open another one later. */
  async #listen(): Promise<boolean> {
    try {
      this.#setState("live");
      for await (const event of this.#api.watchAll?.({ signal: this.#ended }) ?? []) {
        this.#setState("live");
        this.#pass(event);
        this.#say({ kind: "event", event });
      }
      return true;
    } catch (error) {
      // An older gateway has no such route, and who may not read jobs is not told of them.
      return ![401, 403, 404].includes((error as { status?: number }).status ?? 0);
    }
  }

  #pass(event: JobListChange): void {
    if (event.reset) this.#options.onReset();
    else this.#options.onEvent(event);
  }

  #hear(message: TabMessage): void {
    if (message.kind === "event") this.#pass(message.event);
    else if (message.kind === "state") this.state.value = message.state;
    else if (this.#isLeader) this.#say({ kind: "state", state: this.state.peek() });
  }

  #say(message: TabMessage): void {
    if (!this.#ended.aborted) this.#tabs?.postMessage(message);
  }

  #setState(state: FeedState): void {
    if (this.state.peek() === state) return;
    this.state.value = state;
    this.#say({ kind: "state", state });
  }
}

function canShare(): boolean {
  return typeof BroadcastChannel !== "undefined" && globalThis.navigator?.locks !== undefined;
}

function pause(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      ended.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    ended.addEventListener("abort", end);
  });
}
