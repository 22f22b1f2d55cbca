import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Session } from "../session/session.ts";
import * as styles from "./pull_request_badge.module.css";
import { type PullRequestState, readPullRequestState } from "./pull_request_state.ts";
import { PULL_REQUEST_WORDS } from "./words.ts";

/**
 * Reads the state of a job's pull request, and again when the person returns to the tab. Null until
 * the gateway knows it.
 *
 * @param version a string that changes with the job; each change reads the state again
 */
export function usePullRequestState(
  session: Session,
  jobId: string,
  version: string | null,
): PullRequestState | null {
  const known = useSignal<PullRequestState | null>(null);
  useEffect(() => {
    known.value = null;
    if (version === null) return;
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, session.end.signal]);
    let [turns, newest] = [0, 0];
    const read = async () => {
      if (document.visibilityState === "hidden") return;
      const turn = ++turns;
      const state = await readPullRequestState(session, jobId, signal);
      // Keeps the last known state after a failure, and after an older response.
      if (signal.aborted || state === null || turn < newest) return;
      newest = turn;
      known.value = state;
    };
    read();
    document.addEventListener("visibilitychange", read, { signal });
    return () => leave.abort();
  }, [session, jobId, version]);
  return known.value;
}

export function PullRequestBadge({ known }: { known: PullRequestState | null }) {
  if (known === null) return null;
  const { state, isDraft } = known;
  const isOpenDraft = state === "open" && isDraft;
  return <strong class={styles.badge}>{PULL_REQUEST_WORDS[isOpenDraft ? "draft" : state]}</strong>;
}
