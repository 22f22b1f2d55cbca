import * as styles from "./interval_choice.module.css";
import type { TrendGroup } from "./trend.ts";

const INTERVALS: Record<TrendGroup, string> = { day: "Day", week: "Week", month: "Month" };

interface IntervalChoiceProps {
  offered: readonly TrendGroup[];
  /** The pressed interval; null if no chart is shown. */
  chosen: TrendGroup | null;
  /** Returns the end of a button's label, such as its cost. */
  suffixOf?(group: TrendGroup): string;
  isDisabled?(group: TrendGroup): boolean;
  onChoose(group: TrendGroup): void;
}

/** Buttons for the intervals of a chart. */
export function IntervalChoice(props: IntervalChoiceProps) {
  const { offered, chosen, suffixOf, isDisabled = () => false, onChoose } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex item in every browser
    <span class={styles.intervals} role="group" aria-label="Interval">
      {offered.map((interval) => (
        <button
          key={interval}
          type="button"
          class="quiet"
          aria-pressed={interval === chosen}
          aria-disabled={isDisabled(interval)}
          onClick={() => {
            if (!isDisabled(interval)) onChoose(interval);
          }}
        >
          {INTERVALS[interval]}
          {suffixOf?.(interval)}
        </button>
      ))}
    </span>
  );
}
