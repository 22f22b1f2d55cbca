import { type ReadonlySignal, signal } from "@preact/signals";
import { currentTime } from "../shell/clock_skew.ts";
import { Feed, type FeedState, type OpenStream } from "./feed.ts";
import type { LiveList } from "./live_list.ts";

/** The interval of list requests while the stream is down. */
const POLL_MS = 10_000;
/** The interval of list requests while the stream is up. */
const CHECK_MS = 300_000;
/** How frequently to check whether a list request is due. */
const TICK_MS = 2_000;
/**
 * Browsers throttle hidden tabs. After an absence of this length, request the list immediately.
 */
const LONG_ABSENCE_MS = 4000;

export interface FollowingOptions<Item, Filter, Change extends { reset?: true | undefined }> {
  list: LiveList<Item, Filter>;
  openStream: OpenStream<Change>;
  /** The name of the stream that the tabs share. */
  shareAs: string;
  onEvent(event: Exclude<Change, { reset: true }>): void;
  /** Returns whether the list must stay current although it is not visible. */
  isWanted(): boolean;
  /** Aborted when the session ends. */
  ended: AbortSignal;
}

/** Keeps a list current: with its event stream, and with requests while no stream delivers. */
export class Following<Item, Filter, Change extends { reset?: true | undefined }> {
  /** Whether the list is visible and must stay current. */
  readonly inSight = signal(false);
  readonly #feed: Feed<Change>;
  readonly #options: FollowingOptions<Item, Filter, Change>;
  #hiddenAt = Date.now();
  #firstList: Promise<unknown> = Promise.resolve();
  #isStarted = false;

  constructor(options: FollowingOptions<Item, Filter, Change>) {
    const { list, openStream, shareAs, onEvent, ended } = options;
    this.#options = options;
    this.#feed = new Feed<Change>(ended, {
      openStream,
      revision: () => this.#firstList.then(() => list.revision),
      shareAs,
      onEvent,
      onReset: () => list.reload(),
      onGap: () => this.renew(),
    });
  }

  get state(): ReadonlySignal<FeedState> {
    return this.#feed.state;
  }

  /** Follows the list until the session ends. */
  start(): void {
    const { list, ended: signal } = this.#options;
    this.#isStarted = true;
    document.addEventListener("visibilitychange", () => this.#onVisibility(), { signal });
    const timer = setInterval(() => this.#keepUp(), TICK_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    this.#firstList = list.refresh();
    this.#feed.run();
  }

  /** Requests the list. */
  renew(): void {
    const { list, ended } = this.#options;
    if (this.#isStarted && !ended.aborted) list.refresh();
  }

  #onVisibility(): void {
    if (document.hidden) this.#hiddenAt = Date.now();
    else if (Date.now() - this.#hiddenAt > LONG_ABSENCE_MS) this.renew();
  }

  /** Requests the list when it is due, for changes that no stream delivered. */
  #keepUp(): void {
    const { list, isWanted } = this.#options;
    if (list.isRequesting) return;
    // A clock that was set back must not stop the requests.
    const age = Math.abs(currentTime() - list.answeredAt);
    // Without its newest items, the list drops the events of the stream.
    const isLive = list.isCurrent && this.#feed.state.peek() === "live";
    const isNeeded = isWanted() || (this.inSight.peek() && !document.hidden);
    const retryAfter = (list.failure.peek()?.retryAt ?? 0) - list.answeredAt;
    if (isNeeded && age >= Math.max(isLive ? CHECK_MS : POLL_MS, retryAfter)) this.renew();
  }
}
