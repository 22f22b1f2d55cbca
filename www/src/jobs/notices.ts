import { computed, signal } from "@preact/signals";
import { keep, readKept } from "./browser_storage.ts";
import { isFinished, jobState } from "./job_state.ts";

/** A job's end, as it is told to whoever waits for it. */
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

/** What is to be told of a job that has changed; null when it has not come to an end by that. */
export function noticeOf(
  id: string,
  before: SeenJob | undefined,
  job: SeenJob,
  title: string,
): JobNotice | null {
  // What had finished before it was first seen is no news.
  if (before === undefined || isFinished(before) || !isFinished(job)) return null;
  const { word, tone } = jobState(job);
  return { id, word, title, isFailure: tone === "failed" };
}

/** What the window's title begins with: ends that nobody has seen yet, or how many jobs are at work. */
export function titleMark(unseen: readonly JobNotice[], working: number): string {
  if (unseen.length > 0) return unseen.some(({ isFailure }) => isFailure) ? "✗ " : "✓ ";
  return working > 0 ? `(${working}) ` : "";
}

export type DesktopNotices = "on" | "off" | "blocked" | "not supported";

const WANTED = "preferences.notices";
const wanted = signal(readKept(WANTED) === true);
const permission = signal(readPermission());

/** Whether a job's end is also told outside of the page. Never asked for but by a button. */
export const desktopNotices = computed((): DesktopNotices => {
  if (permission.value === null) return "not supported";
  if (permission.value === "denied") return "blocked";
  return wanted.value && permission.value === "granted" ? "on" : "off";
});

export async function switchDesktopNotices(on: boolean): Promise<void> {
  if (on) permission.value = await Notification.requestPermission();
  wanted.value = on && permission.peek() === "granted";
  keep(WANTED, wanted.peek());
}

/** Tells it outside of the page when that is wanted and nobody looks at the page. */
export function notifyDesktop({ id, word, title }: JobNotice, onClick: () => void): void {
  if (!document.hidden || desktopNotices.peek() !== "on") return;
  try {
    // Tabs that tell the same end tell it once.
    const notification = new Notification(word, { body: title, tag: `quillgate-job-${id}` });
    notification.addEventListener("click", () => {
      window.focus();
      onClick();
      notification.close();
    });
  } catch {
    // Some browsers of phones have the name only.
    permission.value = null;
  }
}

function readPermission(): NotificationPermission | null {
  return typeof Notification === "undefined" ? null : Notification.permission;
}
