import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { visit } from "../../shell/navigation.ts";
import * as styles from "./day_inputs.module.css";
import type { DayRange } from "./range.ts";
import { rangeProblem } from "./range_problem.ts";
import { today } from "./today.ts";

const ENDS = [
  ["from", "From"],
  ["to", "To"],
] as const;

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
      {ENDS.map(([end, label]) => (
        <div key={end} class="field">
          <label for={end}>{label}</label>
          <input
            id={end}
            type="date"
            max={today.value}
            value={typed.value[end]}
            onInput={(event) => {
              typed.value = { ...typed.value, [end]: event.currentTarget.value };
            }}
          />
        </div>
      ))}
      <button type="submit">Apply</button>
      <p class="field-problem" role="alert">
        {complaint.value}
      </p>
      <p class={`hint ${styles.hint}`}>Days are in UTC.</p>
    </form>
  );
}
