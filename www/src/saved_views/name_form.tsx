import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect } from "preact/hooks";
import type { Applied } from "../session/person_data.ts";
import * as styles from "./name_form.module.css";
import { normalizeName } from "./saved_view.ts";
import { isApplied, type ViewOutcome, type ViewProblem } from "./view_shelf.ts";
import { VIEW_PROBLEMS, VIEW_WORDS } from "./words.ts";

interface NameFormProps {
  input: RefObject<HTMLInputElement | null>;
  label: string;
  submit: string;
  /** The name to change; empty for a new view. */
  name: string;
  onSubmit(name: string): ViewOutcome;
  /** Replaces the view with the same name; null if the form must not replace views. */
  onReplace: ((name: string) => ViewOutcome) | null;
  onDone(name: string, applied: Applied): void;
  /** Called by Escape and the cancel button; null for a form without that button. */
  onCancel: (() => void) | null;
}

/** Asks for the name of a view. */
export function NameForm(props: NameFormProps) {
  const { input, label, submit, name, onSubmit, onReplace, onDone, onCancel } = props;
  const typed = useSignal(name);
  const problem = useSignal<ViewProblem | null>(null);
  const id = useId();

  // When renaming, this form replaces the pressed button, so it takes over the focus.
  useLayoutEffect(() => {
    if (name === "") return;
    input.current?.focus();
    input.current?.select();
  }, []);

  function apply(change: (name: string) => ViewOutcome) {
    const name = normalizeName(typed.peek());
    const outcome = change(name);
    if (isApplied(outcome)) return onDone(name, outcome);
    problem.value = outcome;
    input.current?.focus();
  }

  return (
    <form
      class={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        apply(onSubmit);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || onCancel === null) return;
        // Keeps the browser from closing the menu.
        event.preventDefault();
        onCancel();
      }}
    >
      <label for={id} class="hint">
        {label}
      </label>
      <input
        ref={input}
        id={id}
        type="text"
        autocomplete="off"
        dir="auto"
        value={typed.value}
        aria-invalid={problem.value !== null}
        aria-describedby={`${id}-problem`}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          problem.value = null;
        }}
      />
      <p id={`${id}-problem`} class="field-problem" role="alert">
        {problem.value && VIEW_PROBLEMS[problem.value]}
      </p>
      <div class="actions">
        <button type="submit">{submit}</button>
        {problem.value === "exists" && onReplace !== null && (
          <button type="button" onClick={() => apply(onReplace)}>
            {VIEW_WORDS.replace}
          </button>
        )}
        {onCancel !== null && (
          <button type="button" onClick={onCancel}>
            {VIEW_WORDS.cancel}
          </button>
        )}
      </div>
    </form>
  );
}
