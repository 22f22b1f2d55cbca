import { signal } from "@preact/signals";

const message = signal("");

/** Has a screen reader say something when it is next idle. */
export function announce(text: string): void {
  // The same text twice would not be a change, and so would not be read out.
  message.value = text === message.peek() ? `${text}\u00A0` : text;
}

export function Announcer() {
  return (
    <p class="visually-hidden" aria-live="polite">
      {message.value}
    </p>
  );
}
