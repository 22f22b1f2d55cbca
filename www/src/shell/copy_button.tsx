import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { announce } from "./announcer.tsx";

interface CopyButtonProps {
  /** The button's label, such as "Copy ID". */
  label: string;
  text: string;
}

const SHOWN_MS = 4000;

/** Copies a string to the clipboard and confirms it. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const outcome = useSignal<"" | "Copied" | "Couldn’t copy">("");
  const reset = () => {
    outcome.value = "";
  };
  useEffect(reset, [text]);
  // Safari does not focus a clicked button, so the button gets no blur event.
  useEffect(() => {
    const timer = setTimeout(reset, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome.value]);

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
    <button type="button" class="quiet" onClick={copy} onBlur={reset}>
      {outcome.value || label}
    </button>
  );
}
