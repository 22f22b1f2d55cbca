import { signal } from "@preact/signals";
import type { ComponentType, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { reloadStyles } from "./failed_styles.ts";
import { DialogLoadFailure, LoadFailure } from "./load_failure.tsx";

/**
 * Returns a component that loads its code on first render. If that fails, it shows `Failure` and
 * retries when the browser is back online or when the component is mounted again.
 */
export function defer<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder: VNode | null = null,
  Failure: ComponentType<Props> = LoadFailure,
): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null);
  const failed = signal(false);

  async function fetchCode() {
    if (loaded.peek() !== null) return;
    try {
      await reloadStyles();
      loaded.value = await load();
      failed.value = false;
    } catch {
      failed.value = true;
    }
  }

  return function Deferred(props: Props) {
    useEffect(() => {
      fetchCode();
      addEventListener("online", fetchCode);
      return () => removeEventListener("online", fetchCode);
    }, []);
    const Loaded = loaded.value as ComponentType<object> | null;
    if (Loaded !== null) return <Loaded {...props} />;
    return failed.value ? <Failure {...props} /> : placeholder;
  };
}

/** Defers a dialog. A failure is shown in a dialog, too, so that it can be closed. */
export function deferDialog<Props extends { onClose(): void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return defer(load, null, DialogLoadFailure);
}
