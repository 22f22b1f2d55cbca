import { computed, signal } from "@preact/signals";
import { clockSkew, currentTime } from "./clock_skew.ts";
import { MINUTE_MS } from "./durations.ts";

/** The time by the gateway's clock, updated every second while the page is visible. */
export const now = signal(currentTime());

/** The start of the current minute, for components that need not update every second. */
export const minute = computed(() => Math.floor(now.value / MINUTE_MS) * MINUTE_MS);

/** The start of the current day in the browser's time zone. */
export const today = computed(() => new Date(now.value).setHours(0, 0, 0, 0));

function update(): void {
  now.value = currentTime();
}

setInterval(() => {
  if (!document.hidden) update();
}, 1000);

document.addEventListener("visibilitychange", update);
clockSkew.subscribe(update);
