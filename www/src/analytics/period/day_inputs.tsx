import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { visit } from "../../shell/navigation.ts";
import * as styles from "./day_inputs.module.css";
import type { DayRange } from "./range.ts";
import { rangeProblem } from "./range_problem.ts";
import { today } from "./today.ts";

/** Inputs for a custom range. It is applied on submit, because each range costs a request. */
export function DayInputs({ range, onApply }: { range: DayRange; onApply(): void }) {
  const typed = useSignal(range);
  const complaint = useSignal<string | null>(null);
  // A layout effect runs before the first frame, so it never overwrites typed input.
  useLayoutEffect(() => {
    typed.value = { from: range.from, to: range.to };
    complaint.value = null;
  }, [range.from, range.to]);

  function apply(event: Event) {
    event.preventDefault();
    complaint.value = rangeProblem(typed.value, today.peek());
    if (complaint.value !== null) return;
    visit({ analytics: { range: typed.value } });
    onApply();
  }

  return (
    <form class={styles.days} onSubmit={apply} noValidate>
      <div class="field">
        <label for="from">From</label>
        <input
          id="from"
          type="date"
          max={today.value}
          value={typed.value.from}
          onInput={(event) => {
            typed.value = { ...typed.value, from: event.currentTarget.value };
          }}
        />
      </div>
      <div class="field">
        <label for="to">To</label>
        <input
          id="to"
          type="date"
          max={today.value}
          value={typed.value.to}
          onInput={(event) => {
            typed.value = { ...typed.value, to: event.currentTarget.value };
          }}
        />
      </div>
      <button type="submit">Apply</button>
      <p class="field-problem" role="alert">
        {complaint.value}
      </p>
      <p class={`hint ${styles.hint}`}>Days are in UTC.</p>
    </form>
  );
}
