import { signal } from "@preact/signals";

const message = signal("");

/** Makes screen readers announce a message when they are idle. */
export function announce(text: string): void {
  // Screen readers ignore an unchanged message, so alternate its ending.
  message.value = text === message.peek() ? `${text}\u00A0` : text;
}

export function Announcer() {
  return (
    <p class="visually-hidden" aria-live="polite">
      {message.value}
    </p>
  );
}
