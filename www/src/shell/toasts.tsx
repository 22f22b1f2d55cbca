import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./icon_button.tsx";
import { Cross } from "./icons.tsx";
import { type ShownToast, shown, TOASTS_ID } from "./toast.ts";
import * as styles from "./toasts.module.css";

/**
 * How long a message stays. It stays longer with the pointer or the focus on it, and until it is
 * closed if it has an action.
 */
const SHOWN_MS = 8000;

function close(id: number): void {
  shown.value = shown.peek().filter((one) => one.id !== id);
}

export function Toasts() {
  const section = useRef<HTMLElement>(null);
  const toasts = shown.value;
  useLayoutEffect(() => {
    const list = section.current;
    if (list === null || list.contains(document.activeElement)) return;
    // Moves a new message in front of an open menu, which is in the top layer, too.
    if (list.matches(":popover-open")) list.hidePopover();
    list.showPopover();
  }, [toasts]);

  if (toasts.length === 0) return null;
  return (
    <section
      ref={section}
      id={TOASTS_ID}
      class={styles.toasts}
      popover="manual"
      aria-label="Messages"
    >
      {toasts.map((one) => (
        <ToastCard key={one.id} toast={one} />
      ))}
    </section>
  );
}

function ToastCard({ toast: { id, text, action } }: { toast: ShownToast }) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (action) return;
    const timer = setInterval(() => {
      if (!card.current?.matches(":hover, :focus-within")) close(id);
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [id, action]);

  return (
    <div ref={card} class={`rise-in ${styles.toast}`}>
      <p>{text}</p>
      {action && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            close(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton label="Close" icon={Cross} onClick={() => close(id)} />
    </div>
  );
}
