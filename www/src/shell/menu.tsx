import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import * as styles from "./menu.module.css";

/** The minimum distance between a panel and the edges of the window, in pixels. */
const MARGIN = 16;

type Edge = "start" | "end";

interface MenuProps {
  class?: string;
  buttonClass?: string;
  panelClass?: string;
  /** The setting that the button changes: "Period". */
  name?: string;
  /** The current value: "Last 28 days". */
  value: ComponentChildren;
  /** The edge of the button with which the panel is aligned. */
  align?: Edge;
  /** Called when the button gets the pointer or the focus, to preload the panel's code. */
  onIntent?: () => void;
  /**
   * Renders the content of the panel. `close` closes the panel and moves the focus to the button.
   * `focusButton` only moves the focus.
   */
  children(close: () => void, focusButton: () => void): ComponentChildren;
}

/** A button that opens a panel. Escape, a click elsewhere and tabbing out close it. */
export function Menu({ name, value, align = "start", onIntent, children, ...classes }: MenuProps) {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  usePlacement(isOpen.value, button, panel, align);

  const focusButton = () => button.current?.focus();

  function close() {
    panel.current?.hidePopover();
    // Safari does not focus a clicked button, and then returns the focus to the document.
    focusButton();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: these events bubble from the button and the panel
    <div
      class={classes.class}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
        // Without a target, another window got the focus.
        if (relatedTarget !== null && !isInside) panel.current?.hidePopover();
      }}
      onKeyDown={(event) => {
        // The browser closes the panel. Elements around the menu must not close too.
        if (event.key === "Escape" && isOpen.peek()) event.stopPropagation();
      }}
    >
      <button
        ref={button}
        type="button"
        class={`${styles.button} ${classes.buttonClass ?? ""}`}
        popovertarget={id}
        aria-expanded={isOpen.value}
        onPointerEnter={onIntent}
        onFocus={onIntent}
      >
        {name !== undefined && <span class="visually-hidden">{name}: </span>}
        <span class={styles.value}>{value}</span>
      </button>
      <div
        ref={panel}
        id={id}
        class={`${styles.panel} ${classes.panelClass ?? ""}`}
        popover="auto"
        // A click on text inside would otherwise focus an element around the menu.
        tabIndex={-1}
        onBeforeToggle={({ newState }) => {
          if (newState === "open") isOpen.value = true;
        }}
        onToggle={({ newState }) => {
          // Not earlier, because the browser first returns the focus from the content.
          isOpen.value = newState === "open";
        }}
      >
        {isOpen.value && children(close, focusButton)}
      </div>
    </div>
  );
}

/** Keeps an open panel below its button. CSS anchors would need newer browsers. */
function usePlacement(
  isOpen: boolean,
  button: RefObject<HTMLElement | null>,
  panel: RefObject<HTMLElement | null>,
  align: Edge,
): void {
  useLayoutEffect(() => {
    if (!isOpen || !button.current || !panel.current) return;
    const place = placePanel.bind(null, button.current, panel.current, align);
    // Reports the panel's first size, and later changes of its content and of the window.
    const observer = new ResizeObserver(place);
    observer.observe(panel.current);
    observer.observe(document.body);
    // The button also moves when a sheet around it scrolls.
    addEventListener("scroll", place, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      removeEventListener("scroll", place, { capture: true });
    };
  }, [isOpen, align]);
}

function placePanel(button: HTMLElement, panel: HTMLElement, align: Edge): void {
  const { bottom, left, right } = button.getBoundingClientRect();
  const width = panel.offsetWidth;
  const last = document.documentElement.clientWidth - MARGIN - width;
  const wanted = align === "start" ? left : right - width;
  panel.style.left = `${Math.max(MARGIN, Math.min(wanted, last))}px`;
  panel.style.top = `${bottom + scrollY}px`;
}
