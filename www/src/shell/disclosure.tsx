import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DisclosureProps {
  class: string | undefined;
  buttonClass: string;
  panelClass: string;
  /** The content of the button. */
  label: ComponentChildren;
  /** Called when the button gets the pointer or the focus, to preload the panel's code. */
  onIntent?: () => void;
  /** The content of the panel. `close` closes it and moves the focus to the button. */
  children(close: () => void): ComponentChildren;
}

/** A button with a panel. Escape, a click elsewhere and tabbing out close the panel. */
export function Disclosure({ label, onIntent, children, ...classes }: DisclosureProps) {
  const isOpen = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useCloseOutside(isOpen, root);

  function close() {
    isOpen.value = false;
    button.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape works in the button and the panel
    <div
      ref={root}
      class={classes.class}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.peek()) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        class={classes.buttonClass}
        aria-expanded={isOpen.value}
        aria-controls={id}
        onPointerEnter={onIntent}
        onFocus={onIntent}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {label}
      </button>
      <div id={id} class={classes.panelClass} hidden={!isOpen.value}>
        {isOpen.value && children(close)}
      </div>
    </div>
  );
}

function useCloseOutside(isOpen: Signal<boolean>, root: { current: HTMLElement | null }): void {
  // A layout effect: the next event after the panel is drawn may already close it.
  useLayoutEffect(() => {
    if (!isOpen.value) return;
    const closeOutside = ({ target }: Event) => {
      if (!(target instanceof Node && root.current?.contains(target))) isOpen.value = false;
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [isOpen.value]);
}
