import { computed, signal } from "@preact/signals";

/** The time, each second: components that read it show times that keep up. */
export const now = signal(Date.now());

/** When the day began: components that read it say "today" of today, and are quiet until tomorrow. */
export const today = computed(() => new Date(now.value).setHours(0, 0, 0, 0));

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});
