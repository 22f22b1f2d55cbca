import { useEffect, useRef } from "preact/hooks";

let first = true;

/** The route's one h1. It takes the focus when the route changes, so that it is read out. */
export function Heading({ text }: { text: string }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!first) ref.current?.focus();
    first = false;
  }, []);
  return (
    <h1 ref={ref} tabIndex={-1}>
      {text}
    </h1>
  );
}
