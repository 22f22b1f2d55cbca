import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Session } from "../session/session.ts";
import * as styles from "./pull_request_badge.module.css";
import { type PullRequestState, readPullRequestState } from "./pull_request_state.ts";
import { PULL_REQUEST_WORDS } from "./words.ts";

interface PullRequestBadgeProps {
  session: Session;
  jobId: string;
  /** A string that changes with the job. Each change reads the state again. */
  version: string;
}

/**
 * Shows the state of a job's pull request and of its checks, once the gateway knows it. Reads it
 * again when the person returns to the tab.
 */
export function PullRequestBadge({ session, jobId, version }: PullRequestBadgeProps) {
  const known = useSignal<PullRequestState | null>(null);
  useEffect(() => {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, session.end.signal]);
    const read = async () => {
      if (document.visibilityState === "hidden") return;
      const state = await readPullRequestState(session.projectId, jobId, signal);
      if (!signal.aborted) known.value = state;
    };
    read();
    document.addEventListener("visibilitychange", read, { signal });
    return () => leave.abort();
  }, [session, jobId, version]);
  if (known.value === null) return null;
  const { state, isDraft, checks } = known.value;
  const isOpenDraft = state === "open" && isDraft;
  return (
    <span class={styles.badge}>
      <strong>{PULL_REQUEST_WORDS[isOpenDraft ? "draft" : state]}</strong>
      {checks !== null && <span class={styles.checks}>{PULL_REQUEST_WORDS[checks]}</span>}
    </span>
  );
}
