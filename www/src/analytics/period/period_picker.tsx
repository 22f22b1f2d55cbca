import { Choices } from "../../shell/choices.tsx";
import { defer } from "../../shell/deferred.tsx";
import { Menu } from "../../shell/menu.tsx";
import { address, visit } from "../../shell/navigation.ts";
import * as styles from "./period_picker.module.css";
import { type DayRange, PRESETS, periodOf, rangeLabel, stepRange } from "./range.ts";
import { today } from "./today.ts";

const DayInputs = defer(async () => (await import("./day_inputs.tsx")).DayInputs);

/** The period with buttons for the previous and next one, and a menu of all others. */
export function PeriodPicker({ range }: { range: DayRange }) {
  const chosen = address.value.analytics.range;
  const preset = PRESETS.find(({ id }) => id === chosen) ?? null;
  const days = rangeLabel(range);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row in every browser
    <div class={styles.picker} role="group" aria-label="Period">
      <Step range={range} step={-1} label="Earlier period" sign="‹" />
      <Menu name="Period" value={preset?.label ?? days}>
        {(close) => (
          <>
            <Choices
              label="Periods"
              choices={PRESETS}
              chosen={preset?.id ?? null}
              onChoose={(id) => {
                visit({ analytics: { range: id } });
                close();
              }}
            />
            <DayInputs range={range} onApply={close} />
          </>
        )}
      </Menu>
      <Step range={range} step={1} label="Later period" sign="›" />
    </div>
  );
}

interface StepProps {
  range: DayRange;
  step: -1 | 1;
  label: string;
  sign: string;
}

/** Stays focusable when there is no later period, so that keyboard users keep their place. */
function Step({ range, step, label, sign }: StepProps) {
  const next = stepRange(address.value.analytics.range, step, today.value);
  const isPossible = next !== null && (next.from !== range.from || next.to !== range.to);
  return (
    <button
      type="button"
      class={styles.step}
      aria-label={label}
      aria-disabled={!isPossible}
      onClick={() => {
        if (isPossible) stepPeriod(step);
      }}
    >
      {sign}
    </button>
  );
}

/** Opens the previous or the next period, if it has begun. */
export function stepPeriod(step: -1 | 1): void {
  const { range } = address.peek().analytics;
  const day = today.peek();
  const next = stepRange(range, step, day);
  if (next !== null) visit({ analytics: { range: periodOf(next, day, range) } });
}
