import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, visit } from "./navigation.ts";
import { type DayRange, dayOf, PRESETS, rangeProblem } from "./range.ts";

export function RangePicker({ range }: { range: DayRange }) {
  const chosen = address.value.range;
  return (
    <div class="range-picker">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row in every browser */}
      <div class="presets" role="group" aria-label="Period">
        {PRESETS.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            aria-pressed={chosen === id}
            onClick={() => visit({ range: id })}
          >
            {label}
          </button>
        ))}
      </div>
      <DayInputs range={range} />
    </div>
  );
}

/** Two days of one's own choice. They count only once they are applied: each range costs a request. */
function DayInputs({ range }: { range: DayRange }) {
  const typed = useSignal(range);
  const complaint = useSignal<string | null>(null);
  useEffect(() => {
    typed.value = { from: range.from, to: range.to };
    complaint.value = null;
  }, [range.from, range.to]);

  function apply(event: Event) {
    event.preventDefault();
    complaint.value = rangeProblem(typed.value);
    if (complaint.value === null) visit({ range: typed.value });
  }

  const today = dayOf(Date.now());
  return (
    <form class="days" onSubmit={apply} noValidate>
      <div class="field">
        <label for="from">From</label>
        <input
          id="from"
          type="date"
          max={today}
          value={typed.value.from}
          onInput={(event) => {
            typed.value = { ...typed.value, from: event.currentTarget.value };
          }}
        />
      </div>
      <div class="field">
        <label for="to">To (included)</label>
        <input
          id="to"
          type="date"
          max={today}
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
    </form>
  );
}
