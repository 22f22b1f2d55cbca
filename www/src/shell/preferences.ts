/** What a person prefers on this page, kept in the browser: never who they are or what they see. */
export interface Preferences {
  /** Whether single keys work as shortcuts. */
  keys: boolean;
}

const STORED = "quillgate.preferences";
const USUAL: Preferences = { keys: true };

export function readPreferences(): Preferences {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORED) ?? "{}");
    const { keys } = kept as Partial<Preferences>;
    return { keys: typeof keys === "boolean" ? keys : USUAL.keys };
  } catch {
    return USUAL;
  }
}

/** Without storage (it can be switched off) a preference lasts until the page is reloaded. */
export function keepPreferences(preferences: Preferences): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(preferences));
  } catch {}
}
