import { useSignal } from "@preact/signals";
import { Liveness } from "../live/liveness.tsx";
import { visit } from "../shell/navigation.ts";
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
      <Liveness list={book.list} state={book.feedState.value} refreshed={LIST_WORDS.refreshed} />
      <NoticeSwitch />
      <OpenById />
    </div>
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
