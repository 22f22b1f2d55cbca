import { computed, signal } from "@preact/signals";
import { readPreferences, savePreferences } from "../shell/preferences.ts";
import { isFinished, jobState } from "./job_state.ts";

/** A notification about a finished job. */
export interface JobNotice {
  id: string;
  /** "Pull request ready", "Failed" and the like. */
  word: string;
  title: string;
  isFailure: boolean;
}

interface SeenJob {
  status: string | null;
  prLink: string | null;
}

/** Returns a notification if a job has just finished; null otherwise. */
export function noticeOf(
  id: string,
  before: SeenJob | undefined,
  job: SeenJob,
  title: string,
): JobNotice | null {
  // A job that had finished before it was first seen is not news.
  if (before === undefined || isFinished(before) || !isFinished(job)) return null;
  const { word, tone } = jobState(job);
  return { id, word, title, isFailure: tone === "failed" };
}

/**
 * Returns a prefix for the window's title: ✗ or ✓ for unseen results, or the number of running
 * jobs.
 */
export function titleMark(unseen: readonly JobNotice[], working: number): string {
  if (unseen.length > 0) return unseen.some(({ isFailure }) => isFailure) ? "✗ " : "✓ ";
  return working > 0 ? `(${working}) ` : "";
}

export type DesktopNotices = "on" | "off" | "blocked" | "not supported";

const wanted = signal(readPreferences().notices);
const permission = signal(readPermission());

/**
 * Whether the operating system shows a notification when a job finishes. Permission is requested
 * only when the person presses the button.
 */
export const desktopNotices = computed((): DesktopNotices => {
  if (permission.value === null) return "not supported";
  if (permission.value === "denied") return "blocked";
  return wanted.value && permission.value === "granted" ? "on" : "off";
});

export async function switchDesktopNotices(on: boolean): Promise<void> {
  if (on) permission.value = await Notification.requestPermission();
  wanted.value = on && permission.peek() === "granted";
  savePreferences({ notices: wanted.peek() });
}

/** Shows a notification if the person wants them and the page is hidden. */
export function notifyDesktop({ id, word, title }: JobNotice, onClick: () => void): void {
  if (!document.hidden || desktopNotices.peek() !== "on") return;
  try {
    // The tag merges the same notification from several tabs.
    const notification = new Notification(word, { body: title, tag: `quillgate-job-${id}` });
    notification.addEventListener("click", () => {
      window.focus();
      onClick();
      notification.close();
    });
  } catch {
    // On some mobile browsers, `Notification` exists but its constructor throws.
    permission.value = null;
  }
}

function readPermission(): NotificationPermission | null {
  return typeof Notification === "undefined" ? null : Notification.permission;
}
