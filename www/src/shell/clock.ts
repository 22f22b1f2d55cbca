import { computed, signal } from "@preact/signals";

const MINUTE_MS = 60_000;

/** The current time, updated every second while the page is visible. */
export const now = signal(Date.now());

/** The start of the current minute, for components that need not update every second. */
export const minute = computed(() => Math.floor(now.value / MINUTE_MS) * MINUTE_MS);

/** The start of the current day in the browser's time zone. */
export const today = computed(() => new Date(now.value).setHours(0, 0, 0, 0));

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});
