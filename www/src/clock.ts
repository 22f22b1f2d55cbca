import { signal } from "@preact/signals";

/** The time, each second: components that read it show times that keep up. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});
