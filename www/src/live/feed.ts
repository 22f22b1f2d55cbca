import { type Signal, signal } from "@preact/signals";
import type { StreamListener } from "./stream_pulse.ts";

/**
 * - `connecting`: a stream is requested and has not delivered anything yet.
 * - `live`: the stream delivers changes and heartbeats.
 * - `polling`: no stream delivers, so the list must be polled.
 * - `offline`: the browser has no network.
 */
export type FeedState = "connecting" | "live" | "polling" | "offline";

/** A change of a list, as the package reports it. */
type AnyChange = { reset?: true | undefined };

/** Opens the event stream of a project's list, after a revision of the list. */
export type OpenStream<Change extends AnyChange> = (
  options: { signal: AbortSignal; after: number | null } & StreamListener,
) => AsyncIterable<Change>;

/** The clock of a feed, for tests to replace. */
export interface FeedClock {
  /** Waits for a time, or until the signal aborts. */
  pause(milliseconds: number, ended: AbortSignal): Promise<void>;
  /** Calls back after a time. The returned function cancels the call. */
  delay(milliseconds: number, callback: () => void): () => void;
}

/** A message between tabs. One tab reads the stream and forwards it to the others. */
type TabMessage<Change> =
  | { kind: "event"; event: Change }
  | { kind: "state"; state: FeedState }
  | { kind: "question" };

export interface FeedOptions<Change extends AnyChange> {
  openStream: OpenStream<Change>;
  /** Waits for the first list. Returns the revision of the loaded list; null without a list. */
  revision(): Promise<number | null>;
  /** Tabs with the same name share one stream; null for a separate stream. */
  shareAs: string | null;
  /** Called with each change of an item. */
  onEvent(event: Exclude<Change, { reset: true }>): void;
  /** Called when the gateway has discarded some of the missed changes. */
  onReset(): void;
  /** Called when changes may have been missed. */
  onGap(): void;
  clock?: FeedClock;
}

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;
/** After a stream of this duration, reconnection delays start from the shortest again. */
const GOOD_STREAM_MS = 60_000;
/** The time to wait for the first bytes before polling the list. */
const CONNECT_MS = 5_000;
/** A longer silence means a dead connection: gateways send a heartbeat every 15 seconds. */
const MAX_SILENCE_MS = 25_000;

/**
 * Receives the changes of a project's list. The tabs of a browser share one stream, because each
 * stream occupies one of the six HTTP/1.1 connections that a browser opens to a gateway. Without
 * the Web Locks API, each tab opens its own stream.
 */
export class Feed<Change extends AnyChange> {
  readonly state: Signal<FeedState> = signal("connecting");
  readonly #ended: AbortSignal;
  readonly #options: FeedOptions<Change>;
  readonly #clock: FeedClock;
  #tabs: BroadcastChannel | null = null;
  #isLeader = false;
  /** Whether changes may have been missed since the stream last delivered data. */
  #hasGap = false;
  #stopWatchdog = () => {};

  constructor(ended: AbortSignal, options: FeedOptions<Change>) {
    this.#ended = ended;
    this.#options = options;
    this.#clock = options.clock ?? BROWSER_CLOCK;
  }

  /** Receives changes until the session ends or the gateway refuses the stream. */
  async run(): Promise<void> {
    if (this.#ended.aborted) return;
    const { shareAs } = this.#options;
    this.#followNetwork();
    this.#expectData(CONNECT_MS);
    if (shareAs === null || !canShare()) return this.#stream();
    const tabs = new BroadcastChannel(shareAs);
    this.#tabs = tabs;
    this.#ended.addEventListener("abort", () => tabs.close());
    tabs.addEventListener("message", ({ data }) => this.#receive(data as TabMessage<Change>));
    this.#send({ kind: "question" });
    // The tab with the lock reads the stream. When that tab closes, the next one gets the lock.
    const lead = () => {
      this.#isLeader = true;
      return this.#stream();
    };
    await navigator.locks.request(shareAs, { signal: this.#ended }, lead).catch(() => {});
  }

  async #stream(): Promise<void> {
    let wait = FIRST_PAUSE_MS;
    // This tab may have taken over from another one, so changes may have been missed.
    if (this.#isLeader) this.#options.onGap();
    while (!this.#ended.aborted) {
      const startedAt = Date.now();
      this.#connect();
      const mayReopen = await this.#listen();
      if (this.#ended.aborted) return;
      this.#stopWatchdog();
      this.#setState("polling");
      if (!mayReopen) return;
      wait = Date.now() - startedAt > GOOD_STREAM_MS ? FIRST_PAUSE_MS : wait;
      await this.#clock.pause(wait, this.#ended);
      wait = Math.min(wait * 2, MAX_PAUSE_MS);
    }
  }

  /** Reads one stream. Returns whether to reconnect later. */
  async #listen(): Promise<boolean> {
    const onData = () => this.#noteData();
    const onEnd = () => this.#connect();
    const after = await this.#options.revision();
    if (this.#ended.aborted) return false;
    const stream = this.#options.openStream({ signal: this.#ended, after, onData, onEnd });
    try {
      for await (const event of stream) {
        this.#noteData();
        this.#pass(event);
        this.#send({ kind: "event", event });
      }
      return true;
    } catch (error) {
      // Don't retry after these statuses: older gateways lack the route, and it requires a scope.
      return ![401, 403, 404].includes((error as { status?: number }).status ?? 0);
    }
  }

  #connect(): void {
    if (this.#ended.aborted) return;
    if (this.state.peek() === "live") this.#hasGap = true;
    if (this.state.peek() !== "offline") this.#setState("connecting");
    this.#expectData(CONNECT_MS);
  }

  #noteData(): void {
    if (this.#ended.aborted) return;
    const isAfterGap = this.#hasGap;
    this.#hasGap = false;
    this.#setState("live");
    this.#expectData(MAX_SILENCE_MS);
    if (isAfterGap) this.#options.onGap();
  }

  /** Falls back to polling if no data arrives in time. */
  #expectData(milliseconds: number): void {
    this.#stopWatchdog();
    const fallBack = () => {
      if (this.state.peek() !== "offline") this.#setState("polling");
    };
    this.#stopWatchdog = this.#clock.delay(milliseconds, fallBack);
    if (this.#ended.aborted) this.#stopWatchdog();
  }

  #followNetwork(): void {
    const signal = this.#ended;
    signal.addEventListener("abort", () => this.#stopWatchdog());
    const leave = () => {
      this.#setState("offline");
    };
    const resume = () => {
      this.#setState("polling");
      this.#options.onGap();
    };
    globalThis.addEventListener?.("offline", leave, { signal });
    globalThis.addEventListener?.("online", resume, { signal });
  }

  #pass(event: Change): void {
    if (event.reset) this.#options.onReset();
    else this.#options.onEvent(event as Exclude<Change, { reset: true }>);
  }

  #receive(message: TabMessage<Change>): void {
    if (message.kind === "event") this.#pass(message.event);
    else if (message.kind === "state") this.#follow(message.state);
    else if (this.#isLeader) this.#send({ kind: "state", state: this.state.peek() });
  }

  /** Applies the state of the tab that reads the stream. */
  #follow(state: FeedState): void {
    this.#stopWatchdog();
    this.state.value = state;
  }

  #send(message: TabMessage<Change>): void {
    if (!this.#ended.aborted) this.#tabs?.postMessage(message);
  }

  #setState(state: FeedState): void {
    if (this.state.peek() === state) return;
    this.state.value = state;
    if (state === "polling" || state === "offline") this.#hasGap = true;
    if (this.#isLeader) this.#send({ kind: "state", state });
  }
}

function canShare(): boolean {
  return typeof BroadcastChannel !== "undefined" && globalThis.navigator?.locks !== undefined;
}

const BROWSER_CLOCK: FeedClock = {
  pause(milliseconds, ended) {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        ended.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      ended.addEventListener("abort", end);
    });
  },
  delay(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
