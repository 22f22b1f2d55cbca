import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import type { ApiError } from "quillgate";
import { HOUR_MS } from "../shell/durations.ts";

/** The minimum time after a failure until the item is watched again. */
const RETRY_MS = 30_000;

/**
 * Watches the item whose id a signal contains. Stops when the id changes or the session ends. After
 * a transient failure, retries later, or when the returned function is called. After any other
 * failure, such as the time limit of a watch, retries only when it is called.
 */
export function watchTarget(
  target: ReadonlySignal<string | null>,
  watch: (id: string, signal: AbortSignal) => Promise<void>,
  onFailure: (id: string, error: unknown) => void,
  ended: AbortSignal,
): () => void {
  const failed = signal<string | null>(null);
  const watched = computed(() => (target.value === failed.value ? null : target.value));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const retry = () => {
    clearTimeout(timer);
    failed.value = null;
  };
  const stop = effect(() => {
    const id = watched.value;
    if (id === null) return;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, ended]);
    untracked(() => watch(id, signal)).catch((error: unknown) => {
      if (signal.aborted) return;
      clearTimeout(timer);
      const delay = retryDelay(error);
      if (delay !== null) timer = setTimeout(retry, delay);
      failed.value = id;
      onFailure(id, error);
    });
    return () => controller.abort();
  });
  ended.addEventListener("abort", () => {
    stop();
    clearTimeout(timer);
  });
  return retry;
}

/** Returns the time to wait before a retry, in milliseconds; null if it would fail again. */
function retryDelay(error: unknown): number | null {
  const { name, status, retryAfter } = Object(error) as Partial<ApiError>;
  const isTransient =
    status === undefined
      ? name === "ConnectionError" || name === "RequestTimeoutError"
      : [408, 429].includes(status) || status >= 500;
  const wait = Math.max(RETRY_MS, 1000 * (retryAfter ?? 0));
  // Limits are hourly. `setTimeout` would end immediately after a wait of 25 days or more.
  return isTransient ? Math.min(wait, HOUR_MS) : null;
}
