import { useEffect, useRef } from "preact/hooks";
import { announce } from "../../shell/announcer.tsx";
import { now } from "../../shell/clock.ts";
import { defer } from "../../shell/deferred.tsx";
import { keepFocus } from "../../shell/heading.tsx";
import { address, visit } from "../../shell/navigation.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { reserveOf } from "../../shell/rate_limit.ts";
import { counted } from "../../shell/wording.ts";
import type { DayRange } from "../period/range.ts";
import { today } from "../period/today.ts";
import { costSentence, requestsLeft } from "../rows/partial_notice.ts";
import type { CountedReport, CountedTrend } from "./counted_trend.ts";
import type { CountedTrendCache } from "./counted_trend_cache.ts";
import * as styles from "./counted_trend_panel.module.css";
import { IntervalChoice } from "./interval_choice.tsx";
import { chartDays, groupOf, groupsFor, MEASURES, type TrendGroup, trendPoints } from "./trend.ts";
import { TrendSpace } from "./trend_space.tsx";

const DrawnTrend = defer(async () => (await import("./drawn_trend.tsx")).DrawnTrend, TrendSpace);

/**
 * The maximum number of requests for one chart. By default, an organization has 100 requests per
 * hour.
 */
const MAX_BARS = 92;

interface CountedTrendPanelProps {
  name: CountedReport;
  range: DayRange;
  trends: CountedTrendCache;
}

/**
 * Offers charts of visitors or searches with their cost in requests, and shows the chosen chart.
 * Renders nothing if fewer than two days of the range have ended.
 */
export function CountedTrendPanel({ name, range, trends }: CountedTrendPanelProps) {
  const days = chartDays(range, today.value);
  return days && <Panel name={name} range={range} days={days} trends={trends} />;
}

function Panel({ name, range, days, trends }: CountedTrendPanelProps & { days: DayRange }) {
  const offered = groupsFor(days).filter((group) => {
    const bars = countBars(days, group);
    return 1 < bars && bars <= MAX_BARS;
  });
  const wanted = groupOf(days, address.value.analytics.interval);
  const group = offered.find((one) => one === wanted) ?? offered[0] ?? "month";
  const trend = trends.find(name, days, group);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => trends.leave(trend), [trends, trend]);
  useEffect(() => () => trends.leave(), [trends]);
  const requestsFor = (one: TrendGroup) =>
    trends.find(name, days, one)?.missing.value ?? countBars(days, one);
  const isShown = (one: TrendGroup) => trend !== null && one === group;

  /** Loads bars. The pressed button can disappear meanwhile. */
  const load = (chosen: CountedTrend) => loadBars(chosen, trends).then(() => keepFocus(panel));

  function choose(next: TrendGroup) {
    if (isShown(next)) return;
    visit({ analytics: { interval: next } });
    const opened = trends.open(name, days, next);
    if (opened.missing.peek() > 0) load(opened);
  }

  return (
    <section ref={panel} class={styles.panel} aria-label={`Chart of ${name}`} tabIndex={-1}>
      <p class={styles.offer}>
        <span>Chart by</span>
        <IntervalChoice
          offered={offered}
          chosen={trend === null ? null : group}
          isDisabled={(one) => requestsFor(one) > 0 && requestsLeftIn(trends) === 0}
          suffixOf={(one) => (isShown(one) ? "" : costSuffix(requestsFor(one)))}
          onChoose={choose}
        />
        {offered.some((one) => requestsFor(one) > 0) && <ScarcityNote trends={trends} />}
      </p>
      {trend && (
        <>
          <DrawnTrend
            trend={{
              measure: MEASURES[name],
              range: days,
              scope: "",
              group,
              points: trend.points.value,
              earlier: [],
              gap: trend.missing.value > 0 ? "Not loaded" : "No data",
              isWithoutToday: range.to >= today.value,
            }}
            isPending={false}
          />
          <ChartProgress trend={trend} trends={trends} onLoad={() => load(trend)} />
        </>
      )}
    </section>
  );
}

function countBars(range: DayRange, group: TrendGroup): number {
  return trendPoints(range, group, []).length;
}

/** Returns " (28 requests)"; empty if all bars are loaded. */
function costSuffix(requests: number): string {
  return requests === 0 ? "" : ` (${counted(requests, "request")})`;
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

interface ChartProgressProps {
  trend: CountedTrend;
  trends: CountedTrendCache;
  onLoad(): void;
}

/**
 * Shows how many bars are loaded, with a button that stops or resumes. After an error, shows the
 * problem. Renders nothing once all bars are loaded.
 */
function ChartProgress({ trend, trends, onLoad }: ChartProgressProps) {
  const missing = trend.missing.value;
  const bars = trend.points.value.length;
  const problem = trend.problem.value;
  if (problem) {
    return <ProblemPanel problem={problem} retryLabel="Resume" onRetry={onLoad} />;
  }
  if (missing === 0) return null;
  const isLoading = trend.isLoading.value;
  return (
    <p class={`${styles.progress} hint`}>
      <span>
        {bars - missing} of {counted(bars, trend.group)} loaded
      </span>
      <button
        type="button"
        class="quiet"
        aria-disabled={!isLoading && requestsLeftIn(trends) === 0}
        onClick={() => {
          if (isLoading) trend.stop();
          else if (requestsLeftIn(trends) !== 0) onLoad();
        }}
      >
        {isLoading ? "Stop" : `Load the rest${costSuffix(missing)}`}
      </button>
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
