import { readPreferences, type Theme } from "./preferences.ts";

/** Applies a theme to the page. Without an argument, applies the stored one. */
export function applyTheme(theme: Theme = readPreferences().theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  const colors = document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]");
  for (const meta of colors) {
    const { scheme } = meta.dataset;
    const chosen = theme === scheme ? "all" : "not all";
    meta.media = theme === "system" ? `(prefers-color-scheme: ${scheme})` : chosen;
  }
}
