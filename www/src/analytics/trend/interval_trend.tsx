import { visit } from "../../shell/navigation.ts";
import { DrawnTrend, type DrawnTrendProps } from "./drawn_trend.tsx";
import * as styles from "./interval_trend.module.css";
import { groupsFor, type TrendGroup } from "./trend.ts";

const INTERVALS: Record<TrendGroup, string> = { day: "Day", week: "Week", month: "Month" };

/** A chart with buttons for its interval. */
export function IntervalTrend(props: DrawnTrendProps) {
  const { range, group, measure } = props.trend;
  const offered = groupsFor(range, measure.maxBars);
  return (
    <DrawnTrend {...props}>
      {offered.length > 1 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex item in every browser
        <span class={styles.intervals} role="group" aria-label="Interval">
          {offered.map((interval) => (
            <button
              key={interval}
              type="button"
              class="quiet"
              aria-pressed={interval === group}
              onClick={() => visit({ analytics: { interval } })}
            >
              {INTERVALS[interval]}
            </button>
          ))}
        </span>
      )}
    </DrawnTrend>
  );
}
