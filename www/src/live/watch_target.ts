import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";

/** The time after a failure until the item is watched again. */
const RETRY_MS = 30_000;

/**
 * Watches the item whose id a signal contains. Stops when the id changes or the session ends. After
 * a failure, retries later, or when the returned function is called. After the time limit of a watch,
 * retries only when it is called.
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
      if (!isTimeLimit(error)) timer = setTimeout(retry, RETRY_MS);
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

function isTimeLimit(error: unknown): boolean {
  const { name } = Object(error) as { name?: unknown };
  return name === "JobWaitTimeoutError" || name === "DeploymentWaitTimeoutError";
}
