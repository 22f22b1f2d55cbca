import { useEffect } from "preact/hooks";
import { announce } from "../shell/announcer.tsx";
import { now } from "../shell/clock.ts";
import { defer } from "../shell/deferred.tsx";
import { address, visit } from "../shell/navigation.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { reserveOf } from "../shell/rate_limit.ts";
import { counted } from "../shell/wording.ts";
import type { CountedReport, CountedTrend } from "./counted_trend.ts";
import type { CountedTrends } from "./counted_trends.ts";
import { IntervalChoice } from "./interval_choice.tsx";
import { keepFocus } from "./notices.tsx";
import { costSentence, requestsLeft } from "./partial_notice.ts";
import type { DayRange } from "./range.ts";
import { today } from "./today.ts";
import { endedDays, groupOf, groupsFor, MEASURES, type TrendGroup, trendPoints } from "./trend.ts";
import "../styles/counted_trend.css";

const TREND_SPACE = <div class="trend-space" aria-hidden="true" />;
const DrawnTrend = defer(async () => (await import("./drawn_trend.tsx")).DrawnTrend, TREND_SPACE);

/** A chart of more bars would use up most of an hour's requests. */
const MAX_BARS = 92;

interface CountedTrendPanelProps {
  name: CountedReport;
  range: DayRange;
  trends: CountedTrends;
}

/** Offers a chart of visitors or searches with its cost in requests, and shows it. */
export function CountedTrendPanel({ name, range, trends }: CountedTrendPanelProps) {
  const over = endedDays(range, today.value);
  const offered = over === null ? [] : groupsOffered(over);
  const wanted = over === null ? null : groupOf(over, address.value.analytics.interval);
  const group = offered.find((one) => one === wanted) ?? offered[0];
  const trend = over === null || group === undefined ? null : trends.find(name, over, group);
  useEffect(() => trends.leave(trend), [trends, trend]);
  useEffect(() => () => trends.leave(), [trends]);
  if (over === null || group === undefined) return null;

  const missingIn = (one: TrendGroup) =>
    trends.find(name, over, one)?.missing.value ?? barsOf(over, one);

  function choose(next: TrendGroup, days: DayRange) {
    visit({ analytics: { interval: next } });
    const opened = trends.open(name, days, next);
    if (opened.missing.peek() > 0 && !opened.isLoading.peek()) loadBars(opened, trends);
  }

  const { title } = MEASURES[name];
  return (
    <section class="counted-trend" aria-label={`Chart of ${title.toLowerCase()}`}>
      <p class="counted-offer">
        <span>Chart by</span>
        <IntervalChoice
          offered={offered}
          chosen={trend === null ? null : group}
          isDisabled={(one) => missingIn(one) > 0 && requestsLeftIn(trends) === 0}
          noteOf={(one) => (trend !== null && one === group ? "" : costOf(missingIn(one)))}
          onChoose={(one) => choose(one, over)}
        />
        <ScarcityNote trends={trends} />
      </p>
      {trend && (
        <>
          <DrawnTrend
            trend={{
              measure: MEASURES[name],
              range: over,
              subject: {},
              group,
              points: trend.points.value,
              earlier: [],
              isWithoutToday: range.to >= today.value,
            }}
            isPending={false}
          />
          <Progress trend={trend} trends={trends} />
        </>
      )}
    </section>
  );
}

function groupsOffered(range: DayRange): readonly TrendGroup[] {
  return groupsFor(range).filter((group) => {
    const bars = barsOf(range, group);
    return 1 < bars && bars <= MAX_BARS;
  });
}

function barsOf(range: DayRange, group: TrendGroup): number {
  return trendPoints(range, group, []).length;
}

/** Returns " (28 requests)", or nothing for a loaded chart. */
function costOf(missing: number): string {
  return missing === 0 ? "" : ` (${counted(missing, "request")})`;
}

function requestsLeftIn({ limit }: CountedTrends): number | null {
  return limit.value === null ? null : requestsLeft(limit.value, now.value);
}

/** Says how many requests are left once only the reserve is. */
function ScarcityNote({ trends }: { trends: CountedTrends }) {
  const limit = trends.limit.value;
  if (limit === null || !isScarce(trends)) return null;
  return <span class="hint">{costSentence(null, limit, now.value)}</span>;
}

function isScarce(trends: CountedTrends): boolean {
  const { value: limit } = trends.limit;
  const left = requestsLeftIn(trends);
  return limit !== null && left !== null && left <= reserveOf(limit);
}

/** Shows how many bars are loaded, with a button that stops or resumes. */
function Progress({ trend, trends }: { trend: CountedTrend; trends: CountedTrends }) {
  const missing = trend.missing.value;
  const all = trend.points.value.length;
  const problem = trend.problem.value;
  if (problem) {
    return (
      <ProblemPanel problem={problem} retryLabel="Resume" onRetry={() => loadBars(trend, trends)} />
    );
  }
  if (missing === 0) return null;
  const isLoading = trend.isLoading.value;
  return (
    <p class="counted-progress hint">
      <span>
        {all - missing} of {counted(all, trend.group)} loaded
      </span>
      <button
        type="button"
        class="quiet"
        aria-disabled={!isLoading && requestsLeftIn(trends) === 0}
        onClick={() => {
          if (isLoading) trend.stop();
          else if (requestsLeftIn(trends) !== 0) loadBars(trend, trends);
        }}
      >
        {isLoading ? "Stop" : "Load the rest"}
      </button>
    </p>
  );
}

/** Loads missing bars. Uses the organization's last requests only if the note about them was shown. */
async function loadBars(trend: CountedTrend, trends: CountedTrends): Promise<void> {
  await trend.load(isScarce(trends) ? "all" : "above reserve");
  const { length } = trend.points.peek();
  const missing = trend.missing.peek();
  if (missing === 0) announce(`All ${counted(length, trend.group)} loaded`);
  else announce(`${length - missing} of ${counted(length, trend.group)} loaded`);
  keepFocus(".problem button, .counted-progress button, .trend-pointer");
}
