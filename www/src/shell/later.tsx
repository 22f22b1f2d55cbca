import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { nextTask } from "./next_task.ts";

let hasBegun = false;

/** What is drawn after what stands above it, when the page opens; from then on it is there at once. */
export function Later({ children }: { children: ComponentChildren }) {
  const isDue = useSignal(hasBegun);
  useEffect(() => {
    hasBegun = true;
    nextTask().then(() => {
      isDue.value = true;
    });
  }, []);
  return <>{isDue.value && children}</>;
}
