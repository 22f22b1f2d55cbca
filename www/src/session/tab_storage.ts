/** What this tab remembers across a reload. It is gone with the tab, and forgotten on signing out. */
const PREFIX = "quillgate.";

export function recall(name: string): unknown {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Without storage (it can be full or switched off) the page works on, until it is reloaded. */
export function remember(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {}
}

export function forget(name: string): void {
  try {
    sessionStorage.removeItem(PREFIX + name);
  } catch {}
}

export function forgetEverything(): void {
  try {
    const names = Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
    for (const name of names) sessionStorage.removeItem(name);
  } catch {}
}
