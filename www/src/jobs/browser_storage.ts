/**
 * Data about jobs in local storage: drafts, sent messages, templates and preferences. Signing out
 * deletes drafts and sent messages. Tokens are never stored.
 */
const PREFIX = "quillgate.jobs.";
const LASTING = /^(templates|preferences)\./;

export function readKept(name: string): unknown {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Stores a value. If storage is full or disabled, the page works until it is reloaded. */
export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {}
}

export function discardKept(name: string): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {}
}

/** Returns the names with a prefix. */
export function keptNames(start: string): string[] {
  try {
    const all = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "");
    return all
      .filter((name) => name.startsWith(PREFIX + start))
      .map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** Calls `changed` with each name that another tab changes. */
export function onKeptElsewhere(changed: (name: string) => void, ended: AbortSignal): void {
  globalThis.addEventListener?.(
    "storage",
    ({ key }) => {
      if (key?.startsWith(PREFIX)) changed(key.slice(PREFIX.length));
    },
    { signal: ended },
  );
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
