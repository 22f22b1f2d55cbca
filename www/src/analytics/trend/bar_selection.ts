import type { TrendPoint } from "./trend.ts";

/** Neighbouring bars of a chart, by position. `end` may come before `start`. */
export interface BarSelection {
  /** The bar where a drag or a keyboard selection began. */
  start: number;
  /** The bar under the pointer or reached by the arrow keys. */
  end: number;
}

export function isSelected(selection: BarSelection | null, index: number): boolean {
  if (selection === null) return false;
  const { first, last } = edgesOf(selection);
  return first <= index && index <= last;
}

/** Returns the sum of the selected points; `undefined` without points. */
export function sumSelected(
  points: readonly TrendPoint[],
  selection: BarSelection,
): TrendPoint | undefined {
  const { first, last } = edgesOf(selection);
  const [start, ...others] = points.slice(first, last + 1);
  if (start === undefined) return undefined;
  return others.reduce(
    (sum, { to, human, ai, held, days, span }) => ({
      from: sum.from,
      to,
      human: sum.human + human,
      ai: sum.ai + ai,
      held: sum.held + held,
      days: sum.days + days,
      span: sum.span + span,
    }),
    start,
  );
}

export function edgesOf({ start, end }: BarSelection): { first: number; last: number } {
  return { first: Math.min(start, end), last: Math.max(start, end) };
}
