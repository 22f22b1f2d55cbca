import { useEffect, useRef } from "preact/hooks";
import { wasRestored } from "./navigation.ts";

/** The id of the route's heading, which labels regions. */
export const HEADING_ID = "page-title";

let isFirst = true;
let shown: HTMLHeadingElement | null = null;

/** Focuses the route's heading. Scrolls to the top, unless the browser restores the position. */
export function focusHeading(): void {
  if (!wasRestored()) scrollTo(0, 0);
  focusHeadingInPlace();
}

/** Focuses the route's heading, and keeps the scroll position. */
export function focusHeadingInPlace(): void {
  shown?.focus({ preventScroll: true });
}

/** The route's only `h1`. It takes the focus when the route changes. */
export function Heading({ text }: { text: string }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    shown = ref.current;
    if (!isFirst) focusHeading();
    isFirst = false;
    return () => {
      if (shown === ref.current) shown = null;
    };
  }, []);
  return (
    <h1 ref={ref} id={HEADING_ID} tabIndex={-1}>
      {text}
    </h1>
  );
}
