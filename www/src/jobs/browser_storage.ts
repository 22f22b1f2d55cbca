import {
  onStoredElsewhere,
  readStored,
  removeStored,
  store,
  storedKeys,
} from "../shell/local_storage.ts";

/**
 * Data about jobs in local storage: drafts, sent messages, templates and preferences. Signing out
 * deletes drafts and sent messages. Tokens are never stored.
 */
const PREFIX = "quillgate.jobs.";
const LASTING = /^(templates|preferences)\./;

export function readKept(name: string): unknown {
  return readStored(PREFIX + name);
}

/** Stores a value. If storage is full or disabled, a reload loses it. */
export function keep(name: string, value: unknown): void {
  store(PREFIX + name, value);
}

export function discardKept(name: string): void {
  removeStored(PREFIX + name);
}

/** Returns the names with a prefix. */
export function keptNames(start: string): string[] {
  return storedKeys(PREFIX + start).map((key) => key.slice(PREFIX.length));
}

/** Calls `changed` with each name that another tab changes. */
export function onKeptElsewhere(changed: (name: string) => void, ended: AbortSignal): void {
  onStoredElsewhere(PREFIX, (key) => changed(key.slice(PREFIX.length)), ended);
}

/** Deletes the drafts and sent messages of all projects. */
export function forgetJobs(): void {
  for (const name of keptNames("")) {
    if (!LASTING.test(name)) discardKept(name);
  }
}

/** Returns the number of non-empty drafts of all projects: prompts and follow-ups. */
export function countDrafts(): number {
  const names = [...keptNames("draft."), ...keptNames("follow-up.")];
  return names.filter((name) => {
    const { text } = (readKept(name) ?? {}) as { text?: unknown };
    return typeof text === "string" && text.trim() !== "";
  }).length;
}
