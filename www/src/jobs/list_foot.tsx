import { useSignal } from "@preact/signals";
import { announce } from "../shell/announcer.tsx";
import { minute } from "../shell/clock.ts";
import { visit } from "../shell/navigation.ts";
import { moment } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import { readJobId } from "./jobs_address.ts";
import * as styles from "./list_foot.module.css";
import { desktopNotices, switchDesktopNotices } from "./notices.ts";
import { LIST_WORDS } from "./words.ts";

/**
 * Shows the time of the last update, a switch for notifications, and a form to open other jobs.
 */
export function ListFoot({ book }: { book: JobBook }) {
  return (
    <div class={styles.foot}>
      <Liveness book={book} />
      <NoticeSwitch />
      <OpenById />
    </div>
  );
}

function Liveness({ book: { feed, list } }: { book: JobBook }) {
  const loadedAt = list.loadedAt.value;
  const busy = list.busy.value;
  const state = feed.state.value;
  const failure = list.failure.value;
  const time = loadedAt === null ? "" : moment(loadedAt, minute.value);
  const isLate = failure !== null && (state === "connecting" || state === "polling");
  const words = {
    live: LIST_WORDS.live,
    connecting: LIST_WORDS.connecting,
    offline: LIST_WORDS.offline,
    polling: time && LIST_WORDS.updated(time),
  };

  async function refresh() {
    if (busy) return;
    if (await list.refresh("person")) announce(LIST_WORDS.refreshed);
  }

  return (
    <p class={`hint ${styles.liveness}`}>
      <span class={`${styles.state} ${state === "live" ? styles.live : ""}`}>
        {isLate ? LIST_WORDS.notUpdated(time, failure.title) : words[state]}
      </span>
      <button type="button" class="quiet" aria-disabled={busy} onClick={refresh}>
        {LIST_WORDS.refresh}
      </button>
    </p>
  );
}

/** Asks for permission only when the button is pressed. */
function NoticeSwitch() {
  const state = desktopNotices.value;
  if (state === "not supported") return null;
  if (state === "blocked") return <p class="hint">{LIST_WORDS.blocked}</p>;
  return (
    <button type="button" class="quiet" onClick={() => switchDesktopNotices(state === "off")}>
      {state === "on" ? LIST_WORDS.stopNotifying : LIST_WORDS.notify}
    </button>
  );
}

/** Opens a job by its id. Jobs created outside this gateway are not in the list. */
function OpenById() {
  const id = useSignal("");
  return (
    <details class={styles.openById}>
      <summary>{LIST_WORDS.openById}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = readJobId(id.value);
          if (wanted !== "") visit({ jobs: { id: wanted } });
        }}
      >
        <label for="job-id">{LIST_WORDS.id}</label>
        <div class={styles.joined}>
          <input
            id="job-id"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={id.value}
            onInput={(event) => {
              id.value = event.currentTarget.value;
            }}
          />
          <button type="submit">{LIST_WORDS.open}</button>
        </div>
      </form>
    </details>
  );
}
