import { useEffect } from "preact/hooks";
import { announce } from "../../shell/announcer.tsx";
import { now } from "../../shell/clock.ts";
import { defer } from "../../shell/deferred.tsx";
import { address, visit } from "../../shell/navigation.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { reserveOf } from "../../shell/rate_limit.ts";
import { counted } from "../../shell/wording.ts";
import type { DayRange } from "../period/range.ts";
import { today } from "../period/today.ts";
import { costSentence, requestsLeft } from "../rows/partial_notice.ts";
import type { CountedReport, CountedTrend, CountedTrendCache } from "./counted_trend.ts";
import * as styles from "./counted_trend_panel.module.css";
import { chartDays, groupOf, groupsFor, MEASURES, type TrendGroup } from "./trend.ts";
import { TrendSpace } from "./trend_space.tsx";

const IntervalTrend = defer(
  async () => (await import("./interval_trend.tsx")).IntervalTrend,
  TrendSpace,
);

interface CountedTrendPanelProps {
  name: CountedReport;
  range: DayRange;
  trends: CountedTrendCache;
}

interface PanelProps extends CountedTrendPanelProps {
  days: DayRange;
  offered: readonly TrendGroup[];
}

/**
 * Offers the chart of visitors or searches with its cost in requests, and shows it on request.
 * Renders nothing if fewer than two days of the range have ended, or if even months are too many.
 */
export function CountedTrendPanel(props: CountedTrendPanelProps) {
  const days = chartDays(props.range, today.value);
  const offered = days === null ? [] : groupsFor(days, MEASURES[props.name].maxBars);
  if (days === null || offered.length === 0) return null;
  return <Panel {...props} days={days} offered={offered} />;
}

function Panel({ name, range, days, offered, trends }: PanelProps) {
  const measure = MEASURES[name];
  const trendBy = (group: TrendGroup) => trends.find({ name, range: days, group });
  const trend = trendBy(groupOf(days, address.value.analytics.interval, measure.maxBars));
  const isOpen = trends.isOpen(name, days);
  useEffect(() => () => trend.stop(), [trend]);

  function load(group: TrendGroup) {
    visit({ analytics: { interval: group } });
    trends.open(name, days);
    loadBars(trendBy(group), trends);
  }

  return (
    <section class={styles.panel} aria-label={`Chart of ${name}`} tabIndex={-1}>
      {isOpen && (
        <IntervalTrend
          trend={{
            measure,
            range: days,
            scope: "",
            group: trend.group,
            points: trend.points.value,
            earlier: [],
            gap: trend.missing.value > 0 ? "Not loaded" : "No data",
            isWithoutToday: range.to >= today.value,
          }}
          isPending={false}
        />
      )}
      {isOpen ? (
        <ChartProgress trend={trend} trends={trends} onLoad={load} />
      ) : (
        <p class={`${styles.progress} ${styles.offer}`}>
          {offered.map((group) => (
            <LoadButton
              key={group}
              trend={trendBy(group)}
              trends={trends}
              label={`Chart by ${group}`}
              onLoad={load}
            />
          ))}
          <ScarcityNote trends={trends} />
        </p>
      )}
    </section>
  );
}

interface LoadButtonProps {
  trend: CountedTrend;
  trends: CountedTrendCache;
  label: string;
  onLoad(group: TrendGroup): void;
}

/** Loads the missing bars and shows their cost. Stops while bars load, and keeps the focus. */
function LoadButton({ trend, trends, label, onLoad }: LoadButtonProps) {
  const isLoading = trend.isLoading.value;
  const isDisabled = !isLoading && requestsLeftIn(trends) === 0;
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={isDisabled}
      onClick={() => {
        if (isLoading) trend.stop();
        else if (!isDisabled) onLoad(trend.group);
      }}
    >
      {isLoading ? "Stop" : `${label} (${counted(trend.missing.value, "request")})`}
    </button>
  );
}

/**
 * Returns the number of requests left; null if unknown. Reads the clock only if no request is left,
 * because reading the clock renders the caller every second.
 */
function requestsLeftIn({ limit }: CountedTrendCache): number | null {
  const { value } = limit;
  if (value === null || value.left > 0) return value?.left ?? null;
  return requestsLeft(value, now.value);
}

/** Shows the requests left if only the reserve remains. */
function ScarcityNote({ trends }: { trends: CountedTrendCache }) {
  const limit = trends.limit.value;
  if (limit === null || !isScarce(trends)) return null;
  return <span class="hint">{costSentence(null, limit, now.value)}</span>;
}

function isScarce(trends: CountedTrendCache): boolean {
  const limit = trends.limit.value;
  const left = requestsLeftIn(trends);
  return limit !== null && left !== null && left <= reserveOf(limit);
}

/**
 * Shows how many bars are loaded, with a button that stops or resumes. After an error, shows the
 * problem. Renders nothing once all bars are loaded.
 */
function ChartProgress({ trend, trends, onLoad }: Omit<LoadButtonProps, "label">) {
  const missing = trend.missing.value;
  const bars = trend.points.value.length;
  const problem = trend.problem.value;
  if (problem) {
    const resume = () => onLoad(trend.group);
    return <ProblemPanel problem={problem} retryLabel="Resume" onRetry={resume} />;
  }
  if (missing === 0) return null;
  return (
    <p class={`${styles.progress} hint`}>
      <span>
        {bars - missing} of {counted(bars, trend.group)} loaded
      </span>
      <LoadButton trend={trend} trends={trends} label="Load the rest" onLoad={onLoad} />
      {!trend.isLoading.value && <ScarcityNote trends={trends} />}
    </p>
  );
}

/** Loads missing bars. Uses the reserve only if `ScarcityNote` is visible. */
async function loadBars(trend: CountedTrend, trends: CountedTrendCache): Promise<void> {
  const isEnded = await trend.load(isScarce(trends) ? "all" : "above reserve");
  if (!isEnded) return;
  const bars = trend.points.peek().length;
  const missing = trend.missing.peek();
  if (missing === 0) announce(`All ${counted(bars, trend.group)} loaded`);
  else if (trend.problem.peek() === null) {
    const loaded = `${bars - missing} of ${counted(bars, trend.group)} loaded`;
    announce(`${loaded}. The last requests are kept for others in your organization.`);
  }
}
