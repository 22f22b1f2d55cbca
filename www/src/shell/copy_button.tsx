import { useSignal } from "@preact/signals";
import { announce } from "./announcer.tsx";

interface CopyButtonProps {
  /** The button's label, such as "Copy ID". */
  label: string;
  text: string;
}

/** Copies a string to the clipboard and confirms it. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const outcome = useSignal<"" | "Copied" | "Couldn’t copy">("");

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      outcome.value = "Copied";
    } catch {
      outcome.value = "Couldn’t copy";
    }
    announce(outcome.peek());
  }

  return (
    <button type="button" class="quiet" onClick={copy} onBlur={() => (outcome.value = "")}>
      {outcome.value || label}
    </button>
  );
}
