/** The characters typed while the code of a dialog loads. Its input receives them. */
let typed = "";
/** Whether Enter was pressed. Later keys are ignored. */
let isEntered = false;

/**
 * Keeps what is typed from the page until the returned function is called. Escape calls `cancel`.
 * Other keys, such as F5, keep their effect.
 */
export function holdKeys(cancel: () => void): () => void {
  const hold = (event: KeyboardEvent) => {
    // Ctrl with Alt is AltGr on Windows, and types a character.
    if (event.metaKey || (event.ctrlKey && !event.altKey)) return;
    const { key } = event;
    const isCharacter = [...key].length === 1;
    if (!isCharacter && !["Escape", "Enter", "Backspace"].includes(key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "Escape") cancel();
    else if (isEntered) return;
    else if (key === "Enter") isEntered = true;
    else typed = isCharacter ? typed + key : typed.replace(/.$/u, "");
  };
  addEventListener("keydown", hold, true);
  return () => {
    removeEventListener("keydown", hold, true);
    // The dialog that replaces the caller takes the characters before this.
    queueMicrotask(() => {
      typed = "";
      isEntered = false;
    });
  };
}

/** Types the held keys into the focused input. */
export function typeHeldKeys(): void {
  const input = document.activeElement;
  if (typed === "" || !(input instanceof HTMLInputElement)) return;
  const { selectionStart, selectionEnd } = input;
  input.setRangeText(typed, selectionStart ?? 0, selectionEnd ?? 0, "end");
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  if (!isEntered) return;
  const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
  // Not before the input has rendered.
  setTimeout(() => input.dispatchEvent(enter));
}
