import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type BarSelection, edgesOf, sumSelected } from "./bar_selection.ts";
import type { Bar } from "./chart_layout.ts";
import * as styles from "./chart_pointer.module.css";
import type { DrawableTrend, TrendPoint } from "./trend.ts";
import { pointLabel, pointLines } from "./trend_words.ts";

/** Half of the tooltip's width in pixels, to keep the tooltip within the chart. */
const TIP_REACH = 112;

interface ChartPointerProps {
  trend: DrawableTrend;
  bars: readonly Bar[];
  /** Left edge of the plot, in pixels. */
  left: number;
  selection: Signal<BarSelection | null>;
  onOpen(point: TrendPoint): void;
}

/** A pressed mouse button, pen or finger. */
interface Press {
  /** The selection before the press; null for a mouse, which needs no second tap. */
  before: BarSelection | null;
}

/**
 * Covers the chart and shows a tooltip at the bar that a pointer or the arrow keys select. Dragging
 * or Shift with an arrow key selects several bars. A click, a second tap, the end of a drag or
 * Enter opens the days of the selection. Screen readers see a slider over the bars.
 */
export function ChartPointer({ trend, bars, left, selection, onOpen }: ChartPointerProps) {
  const press = useRef<Press | null>(null);
  const last = bars.length - 1;
  const selected = selection.value === null ? null : clamp(selection.value, last);
  const lines = selected === null ? [] : linesOf(trend, selected);
  const fallback = { start: last, end: last };

  function indexAt(event: PointerEvent): number {
    const { left: edge, width } = (event.currentTarget as Element).getBoundingClientRect();
    const part = (event.clientX - edge - left) / Math.max(1, width - left);
    return Math.min(last, Math.max(0, Math.floor(part * bars.length)));
  }

  function startPress(event: PointerEvent) {
    if (event.button !== 0) return;
    const at = indexAt(event);
    press.current = { before: event.pointerType === "mouse" ? null : selection.peek() };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    selection.value = { start: at, end: at };
  }

  function movePointer(event: PointerEvent) {
    const end = indexAt(event);
    if (press.current !== null) selection.value = extendTo(end);
    else if (event.pointerType === "mouse") selection.value = { start: end, end };
  }

  /** Reads the signal, because an event can arrive before the last one is rendered. */
  function extendTo(end: number): BarSelection {
    return { start: selection.peek()?.start ?? end, end };
  }

  /** The first tap only shows the tooltip, because touch screens cannot hover. */
  function endPress(event: PointerEvent) {
    if (press.current === null) return;
    const { before } = press.current;
    press.current = null;
    const end = indexAt(event);
    const next = extendTo(end);
    selection.value = next;
    const isSecondTap = before !== null && before.start === end && before.end === end;
    if (event.pointerType === "mouse" || next.start !== end || isSecondTap) open(next);
  }

  function open(opened: BarSelection) {
    const sum = sumSelected(trend.points, opened);
    if (sum === undefined || trend.points.length < 2) return;
    selection.value = null;
    onOpen(sum);
  }

  function pressKey(event: KeyboardEvent) {
    const current = selection.peek() ?? fallback;
    const moves: Record<string, number> = {
      ArrowLeft: current.end - 1,
      ArrowDown: current.end - 1,
      ArrowRight: current.end + 1,
      ArrowUp: current.end + 1,
      Home: 0,
      End: last,
    };
    const move = moves[event.key];
    if (move !== undefined) {
      const end = Math.min(last, Math.max(0, move));
      selection.value = { start: event.shiftKey ? current.start : end, end };
    } else if (event.key === "Enter") open(current);
    else if (event.key === "Escape") selection.value = null;
    else return;
    event.preventDefault();
  }

  return (
    <>
      <div
        class={styles.pointer}
        role="slider"
        tabIndex={0}
        aria-label="Explore the chart"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={(selected ?? fallback).end}
        aria-valuetext={linesOf(trend, selected ?? fallback).join(", ")}
        onPointerDown={startPress}
        onPointerMove={movePointer}
        onPointerUp={endPress}
        onPointerCancel={() => {
          press.current = null;
          selection.value = null;
        }}
        onPointerLeave={(event) => {
          if (event.pointerType === "mouse" && press.current === null) selection.value = null;
        }}
        onFocus={(event) => {
          if (event.currentTarget.matches(":focus-visible")) selection.value ??= fallback;
        }}
        onBlur={() => {
          selection.value = null;
        }}
        onKeyDown={pressKey}
      />
      {selected !== null && (
        <p
          class={styles.tip}
          aria-hidden="true"
          style={{ left: tipPosition(bars[selected.start], bars[selected.end], left) }}
        >
          {lines.map((line, at) => (
            <span key={line} class={at === 0 ? styles.tipTitle : ""}>
              {line}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

/** After a change of the period, the chart can have fewer bars than before. */
function clamp({ start, end }: BarSelection, last: number): BarSelection {
  return { start: Math.min(start, last), end: Math.min(end, last) };
}

function linesOf(trend: DrawableTrend, selection: BarSelection): string[] {
  const { measure, points, earlier } = trend;
  const point = sumSelected(points, selection);
  if (point === undefined) return [];
  const { first, last } = edgesOf(selection);
  if (!measure.isAdditive && first < last) {
    return [pointLabel(point), `Select one bar to see its ${measure.title.toLowerCase()}`];
  }
  // A shorter comparison lacks counterparts for some of the selected bars.
  const compared = last < earlier.length ? sumSelected(earlier, selection) : undefined;
  return pointLines(point, compared, trend);
}

function tipPosition(start: Bar | undefined, end: Bar | undefined, left: number): string {
  const x = left + (start && end ? (middleOf(start) + middleOf(end)) / 2 : 0);
  return `clamp(${TIP_REACH}px, ${x}px, calc(100% - ${TIP_REACH}px))`;
}

function middleOf({ x, width }: Bar): number {
  return x + width / 2;
}
