import { effect, type ReadonlySignal, untracked } from "@preact/signals";

/** Watches the item whose id a signal contains. Stops when the id changes or the session ends. */
export function watchTarget(
  target: ReadonlySignal<string | null>,
  watch: (id: string, signal: AbortSignal) => Promise<void>,
  onFailure: (id: string, error: unknown) => void,
  ended: AbortSignal,
): void {
  const stop = effect(() => {
    const id = target.value;
    if (id === null) return;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, ended]);
    untracked(() => watch(id, signal)).catch((error: unknown) => {
      if (!signal.aborted) onFailure(id, error);
    });
    return () => controller.abort();
  });
  ended.addEventListener("abort", stop);
}
