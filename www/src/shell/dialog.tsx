import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import * as styles from "./dialog.module.css";
import { focusHeadingInPlace } from "./heading.tsx";
import { typeHeldKeys } from "./held_keys.ts";
import { IconButton } from "./icon_button.tsx";
import { Cross } from "./icons.tsx";
import { TOASTS_ID } from "./toast.ts";

interface DialogProps {
  open: boolean;
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/**
 * A modal dialog. Escape, its button, or a click that starts and ends outside closes it and returns
 * the focus to its opener.
 */
export function Dialog(props: DialogProps) {
  return props.open ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  /** Selecting text starts a drag inside, which can end outside. */
  const hasStartedOutside = useRef(false);
  // An effect would run after the next key.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    typeHeldKeys();
    return () => {
      // An open modal dialog would keep the focus.
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else focusHeadingInPlace();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard equivalent of a click outside
    <dialog
      ref={dialog}
      class={`rise-in ${styles.dialog}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        // A file picker that closes without a file fires this event, too.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        hasStartedOutside.current = isOutside(event);
      }}
      onClick={(event) => {
        // The second click of a double click on the opener must not close the dialog.
        if (hasStartedOutside.current && isOutside(event) && event.detail < 2) onClose();
        hasStartedOutside.current = false;
      }}
    >
      <div class={`stack ${styles.content}`}>
        <div class={styles.head}>
          <h2 id={heading}>{title}</h2>
          <IconButton label="Close" icon={Cross} onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** Returns whether the pointer is on the backdrop, whose events have the dialog as their target. */
function isOutside(event: MouseEvent): boolean {
  const { target, currentTarget } = event;
  if (target !== currentTarget || !(target instanceof Element)) return false;
  // A modal dialog makes messages inert, so that a click on them reaches the backdrop.
  const toasts = document.getElementById(TOASTS_ID);
  return !isOn(target, event) && (toasts === null || !isOn(toasts, event));
}

function isOn(element: Element, { clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}
