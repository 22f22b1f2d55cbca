import { count, counted } from "../../shell/wording.ts";
import type { Day } from "../period/address_words.ts";
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
  // A part of a bar beside a whole one would look like a fall.
  const isComparable = earlier !== undefined && isWhole(point) && isWhole(earlier);
  if (!isComparable) return lines;
  const before = earlier.human + earlier.ai;
  const change = hasSameLength(point, earlier) ? changeOf(human + ai, before) : null;
  const sign = change === null || change.difference === 0 ? "" : change.difference > 0 ? "+" : "−";
  const words = change === null ? "" : ` (${sign}${changeText(change)})`;
  return [...lines, `Total ${count(human + ai)} vs ${count(before)}${words}`, pointLabel(earlier)];
}

function isWhole({ held, days }: TrendPoint): boolean {
  return held === days;
}

/** Returns whether two bars have as many days, or are whole months. */
function hasSameLength(one: TrendPoint, other: TrendPoint): boolean {
  const isUncut = [one, other].every(({ days, span }) => days === span);
  return isUncut || one.days === other.days;
}

/** Since this day, Mintlify counts views of Markdown as AI (docs/mintlify/analytics.md, 4.2). */
const MARKDOWN_DAY = "2026-07-31";

/** Returns the first bar after the day of the step; null if the chart does not cross it. */
export function markdownStep({ measure, points }: DrawableTrend): number | null {
  if (measure.title !== "Views") return null;
  const at = points.findIndex(({ from }) => from >= MARKDOWN_DAY);
  return at > 0 ? at : null;
}

/** Returns a note if some of the drawn days are before the step, and some are not. */
export function markdownNote({ measure, points, earlier }: DrawableTrend): string | null {
  const days = [...points, ...earlier].filter(({ held }) => held > 0);
  const isBefore = days.some(({ from }) => from < MARKDOWN_DAY);
  const isCrossed = isBefore && days.some(({ to }) => to >= MARKDOWN_DAY);
  if (measure.title !== "Views" || !isCrossed) return null;
  return `Since ${shortDay(MARKDOWN_DAY)}, views of Markdown count as AI`;
}

/** Returns the bars with the days of merged pull requests, and the days that the chart shows. */
export function mergeMarks(
  points: readonly TrendPoint[],
  merges: readonly Day[],
): { bars: number[]; days: Day[] } {
  const barOf = (day: Day) => points.findIndex(({ from, to }) => from <= day && day <= to);
  const days = merges.filter((day) => barOf(day) >= 0);
  return { bars: [...new Set(days.map(barOf))], days };
}

/** Returns "Merged Nov 4, 2026", or an empty string without a day. */
export function mergeNote(days: readonly Day[]): string {
  return days.length === 0 ? "" : `Merged ${[...new Set(days)].sort().map(shortDay).join("; ")}`;
}

/** Returns "No data for 2 days" or "2 days not loaded". */
export function gapSentence(gap: DrawableTrend["gap"], days: number): string {
  const missing = counted(days, "day");
  return gap === "No data" ? `No data for ${missing}` : `${missing} not loaded`;
}
