import type { RefObject } from "preact";
import { HEADING_ID } from "./heading.tsx";

/** Parts of the page that screen readers can name, or that take the focus. */
const PARTS = ":is([aria-label], [aria-labelledby], [tabindex]):not(main)";

/** The part that {@link followFocus} focused. */
let focusedPart: Element | null = null;

/**
 * When the focused element is removed, focuses the part of the page around it, or the heading of
 * this part. Never scrolls. Code that focuses another element within a frame has precedence.
 */
export function followFocus(): void {
  /** The focused element and its ancestors. */
  let path: Element[] = [];
  document.addEventListener("focusin", (event) => {
    if (event.target !== focusedPart) focusedPart = null;
    path = event.composedPath().filter((target) => target instanceof Element);
  });
  document.addEventListener("focusout", ({ target }) => {
    // Some browsers dispatch this event before they remove an element.
    queueMicrotask(() => {
      const isLeft = document.activeElement !== target && path[0]?.isConnected;
      if (isLeft && path[0] === target) path = [];
    });
  });
  new MutationObserver(() => {
    const left = path;
    if (left[0]?.isConnected !== false) return;
    path = [];
    const takeFocus = () => {
      if (document.activeElement === document.body) focusPart(left);
    };
    // Effects run in a task after the frame.
    requestAnimationFrame(() => setTimeout(takeFocus));
  }).observe(document.body, { childList: true, subtree: true });
}

/** Focuses the innermost part on a path. The whole page has the heading of the route. */
function focusPart(path: readonly Element[]): void {
  const part = path.find((element) => element.isConnected && element.matches(PARTS));
  const heading = part === undefined ? HEADING_ID : part.getAttribute("aria-labelledby");
  const target = document.getElementById(heading ?? "") ?? part;
  if (!(target instanceof HTMLElement)) return;
  if (!target.hasAttribute("tabindex")) target.tabIndex = -1;
  focusedPart = target;
  target.focus({ preventScroll: true });
}

/**
 * If the focused element is removed in this frame, or was removed before and the part around it has
 * the focus, focuses `next`. Never scrolls.
 */
export function keepFocus(next: RefObject<HTMLElement | null>): void {
  requestAnimationFrame(() => {
    const { activeElement, body } = document;
    const isLost = activeElement === body || activeElement === focusedPart;
    if (isLost) next.current?.focus({ preventScroll: true });
  });
}
