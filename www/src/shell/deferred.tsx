import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { reloadStyles } from "./failed_styles.ts";
import { holdKeys } from "./held_keys.ts";
import { DialogLoadFailure, LoadFailure } from "./load_failure.tsx";

/**
 * How many milliseconds to wait before each retry. A connection that has just returned can still
 * fail a request.
 */
const RETRY_DELAYS = [1_000, 2_000, 4_000];

/**
 * Returns a component that loads its code on first render. If that fails, it shows `Failure` and
 * retries a few times. It starts over when the browser is back online or when the component is
 * mounted again.
 */
export function defer<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Placeholder: ComponentType<Props> = Nothing,
  Failure: ComponentType<Props> = LoadFailure,
): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null);
  const failed = signal(false);

  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  async function fetchCode(delays = RETRY_DELAYS) {
    if (loaded.peek() !== null) return;
    try {
      await reloadStyles();
      loaded.value = await load();
      failed.value = false;
    } catch {
      failed.value = true;
      const [delay, ...laterDelays] = delays;
      if (delay === undefined) return;
      clearTimeout(retryTimer);
      retryTimer = setTimeout(fetchCode, delay, laterDelays);
    }
  }

  const startOver = () => fetchCode();

  return function Deferred(props: Props) {
    useEffect(() => {
      fetchCode();
      addEventListener("online", startOver);
      return () => removeEventListener("online", startOver);
    }, []);
    const Loaded = loaded.value as ComponentType<object> | null;
    if (Loaded !== null) return <Loaded {...props} />;
    return failed.value ? <Failure {...props} /> : <Placeholder {...props} />;
  };
}

const Nothing = () => null;

/**
 * Defers a dialog. Its input gets the keys that are typed until it opens. A failure is shown in a
 * dialog, too, so that it can be closed.
 */
export function deferDialog<Props extends { onClose(): void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return defer(load, PendingDialog, DialogLoadFailure);
}

function PendingDialog({ onClose }: { onClose(): void }) {
  useLayoutEffect(() => holdKeys(onClose), []);
  return null;
}
