/** Preferences in local storage. They contain nothing about the person or the data shown. */
export interface Preferences {
  /** Whether single keys are shortcuts. */
  keys: boolean;
  theme: Theme;
}

/** `system` follows the operating system. */
export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const STORED = "quillgate.preferences";
const DEFAULTS: Preferences = { keys: true, theme: "system" };

export function readPreferences(): Preferences {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? "{}");
    const { keys, theme } = stored as Partial<Preferences>;
    return {
      keys: typeof keys === "boolean" ? keys : DEFAULTS.keys,
      theme: THEMES.find((one) => one === theme) ?? DEFAULTS.theme,
    };
  } catch {
    return DEFAULTS;
  }
}

/** Stores changes. Without storage, they last until the page is reloaded. */
export function savePreferences(changes: Partial<Preferences>): void {
  try {
    localStorage.setItem(STORED, JSON.stringify({ ...readPreferences(), ...changes }));
  } catch {}
}
