import { useEffect } from "preact/hooks";
import { useRead } from "../../shell/use_read.ts";
import { today } from "../period/today.ts";
import { readTrend, type Trend } from "./daily_trend.ts";
import { IntervalTrend } from "./interval_trend.tsx";
import type { TrendGroup } from "./trend.ts";
import { TrendOff } from "./trend_off.tsx";
import * as styles from "./trend_space.module.css";
import type { ViewsTrendProps } from "./views_trend.tsx";

interface ArchivedTrendProps extends Omit<ViewsTrendProps, "isWaiting"> {
  interval: TrendGroup | null;
}

/**
 * The chart of the views in the gateway's archive, or the reason for its absence. Until the first
 * answer, it has the height of the chart, so that the rows below stay in place.
 */
export function ArchivedTrend({ session, onRead, merges, ...query }: ArchivedTrendProps) {
  const { client, end } = session;
  const day = today.value;
  const read = (signal: AbortSignal) => readTrend(client, query, day, signal);
  const inputs = [client, JSON.stringify(query), day];
  const { value: trend, isReading, retry } = useRead(end.signal, read, inputs);
  useEffect(() => {
    if (trend !== null) onRead?.(trend);
  }, [trend]);
  if (trend?.state === "drawn") {
    return <IntervalTrend trend={trend} isPending={isReading} merges={merges} />;
  }
  return (
    <div class={trend ? "" : styles.space}>
      {trend && <TrendNote trend={trend} onRetry={retry} />}
    </div>
  );
}

interface TrendNoteProps {
  trend: Exclude<Trend, { state: "drawn" }>;
  onRetry(): void;
}

/** Explains a missing trend and what to do about it. */
function TrendNote({ trend, onRetry }: TrendNoteProps) {
  switch (trend.state) {
    case "nothing held":
      return <p class="hint">No daily data for this period.</p>;
    // `ARCHIVE_PROJECTS` lists the project, but the gateway has no database, or a database without
    // tables.
    case "off":
      return <TrendOff detail={trend.detail} />;
    case "failed":
      return (
        <p class="hint">
          Couldn’t load daily data. {trend.problem.cause}{" "}
          <button type="button" class="quiet" onClick={onRetry}>
            Try again
          </button>
        </p>
      );
  }
}
