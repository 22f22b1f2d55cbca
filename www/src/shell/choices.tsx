import * as styles from "./choices.module.css";

interface ChoicesProps<Id extends string> {
  label: string;
  choices: readonly { id: Id; label: string; hint?: string; key?: string }[];
  chosen: Id | null;
  onChoose(id: Id): void;
}

/** A list with at most one selected entry. */
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
            {hint && <span class={`hint ${styles.hint}`}>{hint}</span>}
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
