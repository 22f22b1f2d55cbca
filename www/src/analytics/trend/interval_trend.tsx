import { visit } from "../../shell/navigation.ts";
import { DrawnTrend, type DrawnTrendProps } from "./drawn_trend.tsx";
import { IntervalChoice } from "./interval_choice.tsx";
import { groupsFor } from "./trend.ts";

/** A chart with buttons for its interval. */
export function IntervalTrend(props: DrawnTrendProps) {
  const { range, group } = props.trend;
  const offered = groupsFor(range);
  return (
    <DrawnTrend {...props}>
      {offered.length > 1 && (
        <IntervalChoice
          offered={offered}
          chosen={group}
          onChoose={(interval) => visit({ analytics: { interval } })}
        />
      )}
    </DrawnTrend>
  );
}
