import { announce } from "../shell/announcer.tsx";
import { minute } from "../shell/clock.ts";
import { moment } from "../shell/wording.ts";
import type { FeedState } from "./feed.ts";
import type { LiveList } from "./live_list.ts";
import * as styles from "./liveness.module.css";
import { LIVE_WORDS } from "./words.ts";

interface LivenessProps {
  list: Pick<LiveList<unknown>, "loadedAt" | "busy" | "failure" | "isCurrent" | "refresh">;
  state: FeedState;
  /** Announced after a refresh. */
  refreshed: string;
}

/** Shows whether a list is live, and the time of its last update. */
export function Liveness({ list, state, refreshed }: LivenessProps) {
  const loadedAt = list.loadedAt.value;
  const busy = list.busy.value;
  const failure = list.failure.value;
  const time = loadedAt === null ? "" : moment(loadedAt, minute.value);
  const isLate = failure !== null && !list.isCurrent && state !== "offline";
  const words = {
    live: LIVE_WORDS.live,
    connecting: LIVE_WORDS.connecting,
    offline: LIVE_WORDS.offline,
    polling: time && LIVE_WORDS.updated(time),
  };

  async function refresh() {
    if (busy) return;
    if (await list.refresh("person")) announce(refreshed);
  }

  return (
    <p class={`hint ${styles.liveness}`}>
      <span class={`${styles.state} ${state === "live" && !isLate ? styles.live : ""}`}>
        {isLate ? time && LIVE_WORDS.notUpdated(time, failure.title) : words[state]}
      </span>
      <button type="button" class="quiet" aria-disabled={busy} onClick={refresh}>
        {LIVE_WORDS.refresh}
      </button>
    </p>
  );
}
