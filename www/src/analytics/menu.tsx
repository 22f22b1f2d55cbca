import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import * as styles from "./menu.module.css";

interface MenuProps {
  /** The setting that the button changes: "Period". */
  name: string;
  /** The current value: "Last 28 days". */
  value: ComponentChildren;
  align?: "start" | "end";
  /** The content of the panel. `close` closes it and returns the focus to the button. */
  children(close: () => void): ComponentChildren;
}

/** A button that opens a panel. Escape, a click elsewhere and tabbing out close it. */
export function Menu({ name, value, align = "start", children }: MenuProps) {
  const isOpen = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  function close() {
    isOpen.value = false;
    button.current?.focus();
  }

  // A layout effect: the next event after the panel is drawn may already close it.
  useLayoutEffect(() => {
    if (!isOpen.value) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target)) return;
      isOpen.value = false;
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [isOpen.value]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape works in the button and the panel
    <div
      ref={root}
      class={styles.menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.value) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        class={`dropdown-button ${styles.button}`}
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <span class="visually-hidden">{name}: </span>
        <span class={styles.value}>{value}</span>
      </button>
      {isOpen.value && (
        <div id={id} class={`dropdown ${styles.panel} ${align === "end" ? styles.end : ""}`}>
          {children(close)}
        </div>
      )}
    </div>
  );
}

interface ChoicesProps<Id extends string> {
  label: string;
  choices: readonly { id: Id; label: string; hint?: string; key?: string }[];
  chosen: Id | null;
  onChoose(id: Id): void;
}

/** A list with one selected entry. */
export function Choices<Id extends string>({ label, choices, chosen, onChoose }: ChoicesProps<Id>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a list in every browser
    <div class={styles.choices} role="group" aria-label={label}>
      {choices.map(({ id, label, hint, key }) => (
        <button
          key={id}
          type="button"
          class={styles.choice}
          aria-pressed={chosen === id}
          onClick={() => onChoose(id)}
        >
          <span>
            {label}
            {hint && <span class={`hint ${styles.choiceHint}`}>{hint}</span>}
          </span>
          {key && (
            // biome-ignore lint/a11y/noAriaHiddenOnFocusable: kbd takes no focus; the list of shortcuts has the keys
            <kbd aria-hidden="true">{key}</kbd>
          )}
        </button>
      ))}
    </div>
  );
}
