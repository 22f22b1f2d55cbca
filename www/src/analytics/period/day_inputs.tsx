import { useSignal } from "@preact/signals";
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
  /** Null until the first change. The period can move while days are typed, such as at midnight. */
  const typed = useSignal<DayRange | null>(null);
  const complaint = useSignal<string | null>(null);
  const { from, to } = typed.value ?? range;
  const days = { from, to };

  function apply(event: Event) {
    event.preventDefault();
    complaint.value = rangeProblem(days, today.peek());
    if (complaint.value !== null) return;
    visit({ analytics: { range: days } });
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
            value={days[end]}
            onInput={(event) => {
              typed.value = { ...days, [end]: event.currentTarget.value };
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
