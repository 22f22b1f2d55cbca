import { count, counted } from "../../shell/wording.ts";
import { rangeLabel, shortDay } from "../period/range.ts";
import { changeText } from "../rows/change_words.ts";
import { changeOf } from "../rows/sums.ts";
import type { DrawableTrend, TrendPoint } from "./trend.ts";

/** Returns "Nov 23, 2026" or "Nov 23, 2026 (1 of 7 days)". */
export function pointLabel({ from, to, days, span, held }: TrendPoint): string {
  const label = from === to ? shortDay(from) : rangeLabel({ from, to });
  const known = held === 0 ? days : held;
  return known < span ? `${label} (${known} of ${counted(span, "day")})` : label;
}

/** Returns a tooltip's lines: the days, the counts, and the comparison with its change. */
export function pointLines(
  point: TrendPoint,
  earlier: TrendPoint | undefined,
  { measure, gap }: Pick<DrawableTrend, "measure" | "gap">,
): string[] {
  if (point.held === 0) return [pointLabel(point), gap];
  const { human, ai } = point;
  const { title, hasParts } = measure;
  const counts = hasParts ? `People ${count(human)} · AI ${count(ai)}` : `${title} ${count(human)}`;
  const lines = [pointLabel(point), counts];
  const isComparable = earlier !== undefined && earlier.held > 0;
  if (!isComparable) return lines;
  const before = earlier.human + earlier.ai;
  const change = changeOf(human + ai, before);
  const sign = change === null || change.difference === 0 ? "" : change.difference > 0 ? "+" : "−";
  const words = change === null ? "" : ` (${sign}${changeText(change)})`;
  return [...lines, `Total ${count(human + ai)} vs ${count(before)}${words}`, pointLabel(earlier)];
}

/** Returns "No data for 2 days" or "2 days not loaded". */
export function gapSentence(gap: DrawableTrend["gap"], days: number): string {
  const missing = counted(days, "day");
  return gap === "No data" ? `No data for ${missing}` : `${missing} not loaded`;
}
