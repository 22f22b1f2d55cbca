import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { nextTask } from "./next_task.ts";

let hasBegun = false;

/**
 * Delays its children by one task during page load, so that the content above renders first.
 * Afterwards, it renders them immediately.
 */
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
