import { signal } from "@preact/signals";
import { applyTheme } from "./apply_theme.ts";
import { readPreferences, savePreferences, type Theme } from "./preferences.ts";

export const theme = signal(readPreferences().theme);

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  applyTheme(chosen);
  savePreferences({ theme: chosen });
}
