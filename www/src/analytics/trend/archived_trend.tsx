import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { today } from "../period/today.ts";
import { readTrend, type Trend } from "./daily_trend.ts";
import { IntervalTrend } from "./interval_trend.tsx";
import type { TrendGroup } from "./trend.ts";
import { TrendOff } from "./trend_off.tsx";
import * as styles from "./trend_space.module.css";
import type { ViewsTrendProps } from "./views_trend.tsx";

interface ArchivedTrendProps extends Omit<ViewsTrendProps, "isWaiting"> {
  /** The chosen interval; `null` for the default. */
  interval: TrendGroup | null;
}

/**
 * The chart of the views in the gateway's archive, or the reason for its absence. Until the first
 * answer, it has the height of the chart, so that the rows below stay in place.
 */
export function ArchivedTrend({ session, onRead, merges, ...query }: ArchivedTrendProps) {
  const { client, end } = session;
  const trend = useSignal<Trend | null>(null);
  const isPending = useSignal(false);
  const attempt = useSignal(0);
  const day = today.value;
  useEffect(() => {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, end.signal]);
    isPending.value = true;
    readTrend(client, query, day, signal).then(
      (read) => {
        if (signal.aborted) return;
        trend.value = read;
        onRead?.(read);
        isPending.value = false;
      },
      () => {},
    );
    return () => leave.abort();
  }, [client, JSON.stringify(query), day, attempt.value]);
  const shown = trend.value;
  if (shown?.state === "drawn") {
    return <IntervalTrend trend={shown} isPending={isPending.value} merges={merges} />;
  }
  return (
    <div class={shown ? "" : styles.space}>
      {shown && (
        <TrendNote
          trend={shown}
          onRetry={() => {
            attempt.value += 1;
          }}
        />
      )}
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
