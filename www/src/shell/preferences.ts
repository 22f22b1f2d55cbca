import { browserStorage, keyOf } from "./storage.ts";

/** Preferences in local storage. They contain nothing about the person or the data shown. */
export interface Preferences {
  /** Whether single keys are shortcuts. */
  keys: boolean;
  /** Whether the operating system shows a notification when a job finishes. */
  notices: boolean;
  theme: Theme;
}

/** `system` follows the operating system. */
export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const STORED = keyOf("preferences");
const DEFAULTS: Preferences = { keys: true, notices: false, theme: "system" };

export function readPreferences(): Preferences {
  const stored = Object(browserStorage.read(STORED)) as Partial<Record<keyof Preferences, unknown>>;
  const { keys, notices, theme } = stored;
  return {
    keys: typeof keys === "boolean" ? keys : DEFAULTS.keys,
    notices: typeof notices === "boolean" ? notices : DEFAULTS.notices,
    theme: THEMES.find((one) => one === theme) ?? DEFAULTS.theme,
  };
}

/** Stores changes. Without storage, they last until the page is reloaded. */
export function savePreferences(changes: Partial<Preferences>): void {
  browserStorage.write(STORED, { ...readPreferences(), ...changes });
}
