import { signal } from "@preact/signals";
import type { ComponentType, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { LoadFailure } from "./load_failure.tsx";

/**
 * A component whose code is fetched when it is first shown; until then there is something else. What
 * could not be fetched says so in its place, and is fetched when it is shown again.
 */
export function defer<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder: VNode | null = null,
  failure: VNode | null = <LoadFailure />,
): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | null>(null);
  const failed = signal(false);
  return function Deferred(props: Props) {
    useEffect(() => {
      if (loaded.peek() !== null) return;
      failed.value = false;
      load().then(
        (component) => {
          loaded.value = component;
        },
        () => {
          failed.value = true;
        },
      );
    }, []);
    const Loaded = loaded.value as ComponentType<object> | null;
    if (Loaded !== null) return <Loaded {...props} />;
    return failed.value ? failure : placeholder;
  };
}
