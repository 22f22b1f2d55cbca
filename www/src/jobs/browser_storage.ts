/**
 * What the jobs keep in the browser beyond a tab: drafts, what was sent from here, templates and
 * preferences. The first two are forgotten on signing out. Never a token.
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

/** Without storage (it can be full or switched off) the page works on, until it is reloaded. */
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

/** The names that begin with this. */
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

/** Calls back with the names that another tab has changed. */
export function onKeptElsewhere(changed: (name: string) => void, ended: AbortSignal): void {
  globalThis.addEventListener?.(
    "storage",
    ({ key }) => {
      if (key?.startsWith(PREFIX)) changed(key.slice(PREFIX.length));
    },
    { signal: ended },
  );
}

/** Forgets drafts and what was sent from this browser, of every project. */
export function forgetJobs(): void {
  for (const name of keptNames("")) {
    if (!LASTING.test(name)) discardKept(name);
  }
}

/** Returns the number of drafts with text, of every project: prompts and follow-ups. */
export function countDrafts(): number {
  const names = [...keptNames("draft."), ...keptNames("follow-up.")];
  return names.filter((name) => {
    const { text } = (readKept(name) ?? {}) as { text?: unknown };
    return typeof text === "string" && text.trim() !== "";
  }).length;
}
